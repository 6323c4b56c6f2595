#include "runtime/simulation/simulator/run.hpp"

#include "actors/action_cache.hpp"
#include "runtime/fingerprints/observation.hpp"
#include "runtime/simulation/text.hpp"

#include <algorithm>

namespace hearth::simulation {
namespace {

constexpr unsigned versions = 3; // of each file
// As in `action_cache::run`.
constexpr int max_looks = 64;
constexpr const char* label = "files";

} // namespace

// A compile that reads two files of its host, which the cache learns only by running it. Its result
// is what the host's files held at some moment between question and answer: neither their stamps
// nor another host may bring an older one.
void random_run::work_with_files(worker_state& worker) {
  if (random_.one_in(4)) return change_files(hosts_.at(worker.host), worker);
  const auto question = std::make_shared<file_question>();
  question->begun = begin_question(worker);
  look_for_compiled(worker, question);
}

void random_run::set_up_files(host_state& host) {
  host.files = std::make_unique<simulated_files>(
      host.name, [this] { return std::chrono::nanoseconds(world_.system().now()); });
  host.file_states.emplace_back(now(), host.files->content());
  for (const auto& process : host.processes) {
    host.sources[process] = host.files->for_process();
    world_.process(process)->compiler().set_files(
        label,
        {[&host] { return host.files->content(); }, [&host] { return host.files->now_ns(); }});
  }
}

void random_run::change_files(host_state& host, worker_state& worker) {
  const auto version = static_cast<unsigned>(random_.below(versions));
  if (random_.one_in(2))
    host.files->mount(version);
  else
    host.files->write(version);
  host.file_states.emplace_back(now(), host.files->content());
  for (const auto& process : host.processes)
    world_.process(process)->compiler().note_change(label);
  rest(worker);
}

cache_key random_run::compile_of_files() {
  return {*world_.cache("actions", "0"), key(label).encoded()};
}

// As a caller's thread does: the observations that this host has stored or that the actor has told
// of, then the result of the first that holds.
void random_run::look_for_compiled(worker_state& worker, const file_question_ptr& question) {
  if (const auto told = std::exchange(question->told, std::nullopt))
    return check_observations(worker, question, *told);
  auto local = *compile_of_files().cache;
  local.remote = false;
  const auto where = actors::observations_key(compile_of_files());
  const cache_key here(std::make_shared<const named_cache>(std::move(local)), where.bytes);
  request<lookup>(
      worker, world_.process(worker.process)->router().owner_of(here),
      [=, this, &worker](const expected<lookup>& found) {
        if (!found) return check_error(hosts_.at(worker.host), question->begun, found.error());
        check_observations(worker, question,
                           found->hit()
                               ? decode_members(found->value.payload()).value_or(member_set{})
                               : member_set{});
      },
      verb::get_v, here);
}

void random_run::check_observations(worker_state& worker, const file_question_ptr& question,
                                    const member_set& known) {
  question->seen = digest_of(known);
  question->holding.clear();
  fingerprints::file_view view(*hosts_.at(worker.host).sources.at(worker.process));
  for (const auto& one : observations_in(known))
    if (fingerprints::holds(
            one, [](const std::string& name) { return name; }, view))
      question->holding.push_back(one);
  take_compiled(worker, question, 0);
}

void random_run::take_compiled(worker_state& worker, const file_question_ptr& question,
                               std::size_t next) {
  if (next == question->holding.size()) return compile_files(worker, question);
  const auto where = actors::observed_key(compile_of_files(), question->holding[next]);
  request<lookup>(
      worker, world_.process(worker.process)->router().owner_of(where),
      [=, this, &worker](const expected<lookup>& found) {
        if (!found) return check_error(hosts_.at(worker.host), question->begun, found.error());
        const auto result = found->hit() ? decode_result(found->value) : expected<action_result>();
        if (!found->hit() || !result) return take_compiled(worker, question, next + 1);
        judge_compiled(worker, *question, *result);
      },
      verb::get_v, where);
}

void random_run::compile_files(worker_state& worker, const file_question_ptr& question) {
  auto action = simulated_compiler::action(label);
  action.process.deadline = std::chrono::hours(1);
  action.dependency_file = "out";
  action.seen = question->seen;
  auto& host = hosts_.at(worker.host);
  const fingerprints::start_of_run start(*host.sources.at(worker.process));
  action.observe = [&host, start, process = worker.process](const action_request::run_record&) {
    fingerprints::file_view view(*host.sources.at(process));
    return fingerprints::observe({{simulated_files::on_image, simulated_files::on_image},
                                  {simulated_files::in_place, simulated_files::in_place}},
                                 start, view);
  };
  request<action_reply>(
      worker, actor_of<action_cache_actor>(worker, actor_kind::actions),
      [=, this, &worker](const expected<action_reply>& reply) {
        if (!reply) return check_error(hosts_.at(worker.host), question->begun, reply.error());
        if (!reply->again) return judge_compiled(worker, *question, reply->result);
        if (++question->looks == max_looks)
          return violate(worker.name + " was told to look again without end");
        question->told = reply->observations;
        look_for_compiled(worker, question);
      },
      verb::run_v, compile_of_files(), action, 0);
}

void random_run::judge_compiled(const worker_state& worker, const file_question& question,
                                const action_result& result) {
  const auto& states = hosts_.at(worker.host).file_states;
  const auto made = result.outputs.empty() ? "" : std::string(result.outputs.front().payload());
  for (auto one = states.rbegin(); one != states.rend(); ++one) {
    if (made == "object of " + one->second) return;
    if (one->first < question.begun) break; // what was before it had gone when the question came
  }
  violate(worker.name + " got of " + text_of(compile_of_files()) + " " + text_of(result) +
          ", but its files hold " + states.back().second);
}

} // namespace hearth::simulation
