#include "runtime/simulation/simulator/run.hpp"

#include "messages/guard.hpp"
#include "runtime/simulation/text.hpp"

#include <algorithm>
#include <array>

namespace hearth::simulation {
namespace {

using std::chrono::milliseconds;

// Labels of compiler runs, and how they end.
constexpr std::array<std::string_view, 5> labels{"good", "slow", "bad", "crashing", "hanging"};
constexpr std::array<std::string_view, 4> guards{"m > 4", "m % 2 == 0", "m <= 4", "True"};
constexpr milliseconds compile_deadline{700};

} // namespace

void random_run::compile_something(worker_state& worker) {
  const auto k = random_.below(guarded_keys_.size());
  switch (random_.below(21)) {
  case 0: return add_variant(worker, k);
  case 1: return find_variant(worker, k, static_cast<std::int64_t>(random_.between(1, max_m)));
  case 2: return save_tuning(worker, k);
  case 3: return best_tuning(worker, k);
  case 4: return tune(worker, k);
  case 5: return try_out(worker);
  case 6:
  case 7: return work_on_tree(worker);
  case 8:
  case 9:
  case 10: return work_in_session(worker);
  case 11:
  case 12: return work_on_kernel(worker);
  case 13:
  case 14: return work_in_recording(worker);
  case 15:
  case 16:
  case 17:
  case 18: return work_with_files(worker);
  default: return run_compiler(worker);
  }
}

std::string random_run::any_guard(const worker_state& worker) {
  const auto is_first = worker.host == hosts_.begin()->first;
  return std::string(guards[splits_guards_ ? (is_first ? 0 : 1) : random_.below(guards.size())]);
}

bool random_run::holds(const std::string& guard, std::int64_t m) {
  const auto parsed = guard_expression::parse(guard);
  return parsed && parsed->evaluate(hints{{"m", m}}).value_or(false);
}

void random_run::add_variant(worker_state& worker, std::size_t k) {
  const auto guard = any_guard(worker);
  const auto bytes = new_value(k);
  const auto begun = begin_question(worker);
  const auto number = hosts_.at(worker.host).guarded[k].begin(begun, worker.process, guard, bytes);
  request<insert_outcome>(
      worker, actor_of<guarded_cache_actor>(worker, actor_kind::guarded),
      [=, this, &worker](const expected<insert_outcome>& outcome) {
        auto& host = hosts_.at(worker.host);
        if (!outcome) return check_error(host, begun, outcome.error());
        host.guarded[k].succeed(number, now());
      },
      verb::insert_v, guarded_keys_[k], guard, artifact::make(bytes));
}

void random_run::find_variant(worker_state& worker, std::size_t k, std::int64_t m) {
  const auto begun = begin_question(worker);
  request<guarded_reply>(
      worker, actor_of<guarded_cache_actor>(worker, actor_kind::guarded),
      [=, this, &worker](const expected<guarded_reply>& reply) {
        auto& host = hosts_.at(worker.host);
        if (!reply) return check_error(host, begun, reply.error());
        auto wrong = judge_variant(worker, k, m, begun, *reply);
        if (!wrong.empty())
          violate(worker.name + " got of " + text_of(guarded_keys_[k]) + " m=" + std::to_string(m) +
                  " " + wrong);
      },
      verb::get_v, guarded_keys_[k], hints{{"m", m}});
}

std::string random_run::judge_variant(const worker_state& worker, std::size_t k, std::int64_t m,
                                      moment begun, const guarded_reply& reply) {
  auto& host = hosts_.at(worker.host);
  const auto& past = host.guarded[k];
  if (reply.status == guarded_status::hit) {
    if (!holds(reply.guard, m)) return "a variant whose guard " + reply.guard + " does not hold";
    const auto bytes = reply.found.value.payload();
    if (has_remote_ && is_of_any_host(k, reply.guard, bytes)) return {};
    return past.judge_hit(reply.guard, bytes, now());
  }
  const auto holds_here = [m](const std::string& guard) { return holds(guard, m); };
  if (is_fleet_whole_ && has_kept_all_of(":guarded:"))
    for (const auto& [name, other] : hosts_)
      if (const auto at = other.guarded.find(k); at != other.guarded.end())
        if (auto wrong = at->second.judge_fleet_miss(holds_here); !wrong.empty()) return wrong;
  if (may_miss_since(host, begun)) return {};
  return past.judge_miss(begun, holds_here);
}

void random_run::save_tuning(worker_state& worker, std::size_t k) {
  const auto time_ns = static_cast<std::int64_t>(++writes_);
  const auto begun = begin_question(worker);
  const auto write = hosts_.at(worker.host).tunings[k].begin(begun, std::to_string(time_ns), false);
  request<done>(
      worker, actor_of<autotune_cache_actor>(worker, actor_kind::autotune),
      [=, this, &worker](const expected<done>& saved) {
        auto& host = hosts_.at(worker.host);
        note_tuning(worker, k, record_of(time_ns)); // before it was saved
        if (!saved) return check_error(host, begun, saved.error());
        host.tunings[k].succeed(write, now());
      },
      verb::save_v, tuning_address(k), record_of(time_ns), notes_of(worker));
}

autotune_address random_run::tuning_address(std::size_t k) const {
  return {autotune_keys_[k], has_remote_ ? fleet_tuning_keys_[k] : cache_key(),
          "tuning" + std::to_string(k)};
}

// Whether it may be another host's: this host's own comes first.
bool random_run::may_be_foreign_tuning(const worker_state& worker, std::size_t k, moment begun,
                                       std::string_view time) {
  const auto& own = hosts_.at(worker.host);
  if (!has_remote_) return false;
  if (!may_miss_since(own, begun) && own.tunings.at(k).is_decided(begun)) return false;
  return std::any_of(hosts_.begin(), hosts_.end(), [&](const auto& one) {
    const auto at = one.second.tunings.find(k);
    return at != one.second.tunings.end() && at->second.has(time);
  });
}

autotune_record random_run::record_of(std::int64_t time_ns) {
  autotune_record record;
  record.config.arguments = {{"TILE", 1}};
  record.configs_hash = "candidates";
  record.time_taken_ns = time_ns;
  return record;
}

void random_run::best_tuning(worker_state& worker, std::size_t k) {
  const auto begun = begin_question(worker);
  request<autotune_found>(
      worker, actor_of<autotune_cache_actor>(worker, actor_kind::autotune),
      [=, this, &worker](const expected<autotune_found>& best) {
        auto& host = hosts_.at(worker.host);
        std::string wrong;
        const auto time = best ? std::to_string(best->record.time_taken_ns) : "";
        auto& past = host.tunings[k];
        if (best) note_tuning(worker, k, best->record);
        if (best && may_be_foreign_tuning(worker, k, begun, time)) return;
        if (best)
          wrong = past.judge_hit(time, begun, now());
        else if (best.error().code() != errc::not_found)
          return check_error(host, begun, best.error());
        else if (!may_miss_since(host, begun))
          wrong = past.judge_miss(begun, now());
        if (!wrong.empty())
          violate(worker.name + " got of " + text_of(autotune_keys_[k]) + " " + wrong);
      },
      verb::best_v, tuning_address(k), autotune_choices{{record_of(0).config}, "candidates", false},
      notes_of(worker));
}

action_request random_run::action_of(const std::string& label) {
  auto action = simulated_compiler::action(label);
  action.process.deadline = compile_deadline;
  return action;
}

void random_run::run_compiler(worker_state& worker) {
  const auto how = random_.below(labels.size());
  const auto label = std::string(labels[how]) + std::to_string(random_.below(100));
  request<action_result>(
      worker, actor_of<compile_broker_actor>(worker, actor_kind::broker),
      [=, this, &worker](const expected<action_result>& result) {
        if (!result) return check_error(hosts_.at(worker.host), now(), result.error());
        const auto& process = result->process;
        const std::array<bool, labels.size()> as_it_should{process.succeeded(), process.succeeded(),
                                                           process.exit_status == 1,
                                                           process.signal != 0, process.timed_out};
        const bool made =
            !result->outputs.empty() && result->outputs.front().payload() == "object of " + label;
        if (!as_it_should[how] || made != process.succeeded())
          violate(worker.name + " got of " + label + " " + text_of(*result));
      },
      verb::run_v, action_of(label), static_cast<int>(random_.below(3)));
}

void random_run::try_out(worker_state& worker) {
  const bool crashes = random_.one_in(2);
  trial_request trial;
  trial.entry = "entry";
  request<trial_result>(
      worker, actor_of<compile_broker_actor>(worker, actor_kind::broker),
      [=, this, &worker](const expected<trial_result>& result) {
        if (!result) return check_error(hosts_.at(worker.host), now(), result.error());
        if ((result->status == trial_status::crashed) != crashes)
          violate(worker.name + " got of a trial " + text_of(*result));
      },
      verb::trial_v, trial, artifact::make(crashes ? "object of x3" : "object of x4"),
      compile_deadline);
}

// Some of an entry's candidates cannot be compiled, one is slow, one crashes in its trial; the
// first is the fastest good one.
tune_request_ptr random_run::tuning_of(std::size_t k) {
  auto request = std::make_shared<tune_request>();
  request->name = "entry" + std::to_string(k);
  request->key = tune_keys_[k];
  request->guard = "True";
  request->sizes = {{"m", 1}};
  request->trial.entry = "entry";
  request->trial_deadline = compile_deadline;
  request->address = {derived_key(tune_keys_[k], key("best")), {}, "best"};
  request->family = tune_keys_[k];
  request->untuned_key = derived_key(tune_keys_[k], key("untuned"));
  request->times_key = derived_key(tune_keys_[k], key("times"));
  for (const auto* label : {"good", "slow", "bad", "crashing", "object3"}) {
    const auto name = label + std::to_string(k) + (label == std::string("object3") ? "3" : "");
    tune_candidate candidate;
    candidate.config = {{"LABEL", std::string(label)}};
    candidate.config_text = label;
    candidate.action_key = cache_key(*world_.cache("actions", "0"), key(name).encoded());
    candidate.action = action_of(name);
    request->candidates.push_back(std::move(candidate));
  }
  return request;
}

void random_run::tune(worker_state& worker, std::size_t k) {
  const auto begun = begin_question(worker);
  request<tune_reply>(
      worker, actor_of<kernel_tuner_actor>(worker, actor_kind::tuner),
      [=, this, &worker](const expected<tune_reply>& reply) {
        auto& host = hosts_.at(worker.host);
        if (!reply) return check_error(host, begun, reply.error());
        const bool is_best = reply->config_text == "good" &&
                             reply->library.payload() == "object of good" + std::to_string(k);
        // A disk that fails may leave a candidate out.
        if (!is_best && !may_miss_since(host, begun))
          violate(worker.name + " got of " + text_of(tune_keys_[k]) + " " + text_of(*reply));
      },
      verb::tune_v, tuning_of(k));
}

} // namespace hearth::simulation
