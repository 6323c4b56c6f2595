#include "runtime/caches/actions/action_cache.hpp"

#include "runtime/actions/action_key.hpp"
#include "runtime/actions/find_result.hpp"
#include "runtime/actions/observation.hpp"
#include "runtime/caches/facts/cache_memo.hpp"
#include "runtime/caches/facts/key_history.hpp"
#include "runtime/engine/calls/ask_actor.hpp"
#include "runtime/engine/calls/call_trace.hpp"
#include "runtime/engine/calls/requests.hpp"
#include "runtime/engine/core.hpp"
#include "runtime/handle/internals.hpp"
#include "runtime/process/process_runner.hpp"

#include <caf/send.hpp>

#include <algorithm>
#include <chrono>
#include <utility>

namespace hearth {

// The cache of results, with all its tiers and without the remote one.
struct result_caches {
  cache all;
  cache local;
};

struct action_cache::shared {
  std::shared_ptr<engine::runtime_core> core;
  result_caches results;
  std::shared_ptr<cache_memo> facts;
  std::optional<key_history> keys; // none: details of keys are not kept

  expected<prepared_action> prepared(const action& asked, const std::stop_token& stop) const;
};

namespace {

// The number of lookups: other processes may add observations between them. After the last one the
// action runs without the cache.
constexpr int max_looks = 64;

// The entries of a cache; an error of it counts as a miss.
class cached_entries : public entry_source {
public:
  cached_entries(const result_caches& in, const call_options& options)
      : in_(in)
      , options_(options) {}

  artifact get(const key& k) override { return get(in_.all, k); }
  artifact get_here(const key& k) override { return get(in_.local, k); }
  void erase(const key& k) override { (void)in_.all.erase(k); }

private:
  artifact get(const cache& from, const key& k) const {
    auto found = from.get(k, options_);
    return found && found->hit() ? std::move(found->value) : artifact{};
  }

  const result_caches& in_;
  const call_options& options_;
};

// What a look-up needs besides the action.
struct look_up_ports {
  const result_caches& in;
  fingerprints::fact_memo& facts;
  const log_callback& log; // may be empty
  const std::optional<key_history>& keys;
};

// `changes` gets what has changed since each stored result was made that is passed over.
std::optional<action_outcome> find(const look_up_ports& ports, const action& asked,
                                   prepared_action& ready, const call_options& options,
                                   const std::optional<member_set>& told,
                                   std::vector<std::string>* changes = nullptr) {
  cached_entries entries(ports.in, options);
  const auto outdated = [&](const std::string& change) {
    if (changes && std::find(changes->begin(), changes->end(), change) == changes->end())
      changes->push_back(change);
    if (ports.log) ports.log(log_level::debug, "a stored result is of other inputs: " + change);
  };
  return find_result({entries, ports.facts, outdated}, asked, ready, told);
}

// Asks the action cache's actor to run the request. The run is killed when no caller waits for it.
expected<action_reply> ask_to_run(engine::runtime_core& core, const cache_key& key,
                                  const action_request& request, int priority,
                                  const call_options& options) {
  if (auto no = core.refusal()) return fail(*no);
  if (auto over = engine::over_at_once(options)) return fail(*over);
  auto state = engine::call_state<action_reply>::begin(options.stop());
  state->on_give_up(
      [actor = core.actions(), key] { caf::anon_send(actor, verb::withdraw_v, key); });
  caf::anon_send(core.actions(), verb::run_v, key, request, priority, action_completion(state));
  return engine::wait(future<action_reply>(std::move(state)), options);
}

// Runs the request without the cache and stores nothing.
expected<action_reply> run_alone(engine::runtime_core& core, const action_request& request,
                                 int priority, const call_options& options) {
  auto uncached = request;
  std::stop_source stop;
  const std::stop_callback on_cancel(options.stop(), [&] { stop.request_stop(); });
  uncached.stop = stop.get_token();
  uncached.before_start = nullptr;
  uncached.observe = nullptr;
  uncached.after_run = nullptr;
  uncached.process.watch = watching::none;
  auto result =
      engine::ask_actor<action_result>(core, core.broker(), verb::run_v, uncached, priority);
  if (!result) return fail(result.error());
  return action_reply{std::move(*result), true, false, {}};
}

expected<action_outcome> finished(const action& asked, expected<action_reply> reply,
                                  const prepared_action& ready) {
  if (!reply) return fail(reply.error());
  if (reply->result.process.cancelled) return fail(engine::called_off());
  auto outcome = outcome_of(asked, std::move(*reply));
  if (ready.undeclared && !outcome.found) outcome.undeclared = *ready.undeclared;
  return outcome;
}

// Runs an action whose inputs are not known: it is not watched, has no dependency file, and sees
// more than declared inputs.
expected<action_outcome> run_unknown(engine::runtime_core& core, const action& asked,
                                     const prepared_action& ready, const call_options& options) {
  auto outcome = finished(asked, run_alone(core, ready.request, asked.priority, options), ready);
  if (outcome) {
    outcome->problem = unknown_inputs("programs are not watched");
    outcome->has_unknown_inputs = true;
  }
  return outcome;
}

// Why the first look found nothing. Nothing is said of an action that was never seen.
std::vector<std::string> explain_miss(const look_up_ports& ports, const action& asked,
                                      const prepared_action& ready,
                                      std::vector<std::string> changes) {
  if (!changes.empty() || !ports.keys) return changes;
  const auto miss = ports.keys->explain(subject_of(asked), ready.shown);
  return miss ? lines_of(*miss) : std::vector<std::string>{};
}

// Ends a run: says why it was needed, and keeps what its key is made of if its result is kept.
expected<action_outcome> ran(const look_up_ports& ports, const action& asked,
                             expected<action_outcome> outcome, const prepared_action& ready,
                             std::vector<std::string> missed) {
  if (!outcome || outcome->found) return outcome;
  outcome->missed = std::move(missed);
  const bool is_kept = outcome->problem.empty() && (outcome->succeeded() || asked.keep_failures);
  if (ports.keys && is_kept)
    (void)ports.keys->note(subject_of(asked), ready.shown); // else the next miss says less
  return outcome;
}

expected<action_outcome> run_prepared(engine::runtime_core& core, const look_up_ports& ports,
                                      const action& asked, prepared_action ready,
                                      const call_options& options) {
  auto& request = ready.request;
  if (asked.is_cached && asked.sees_undeclared && !discovers(request))
    return run_unknown(core, asked, ready, options);
  if (!asked.is_cached)
    return finished(asked, run_alone(core, request, asked.priority, options), ready);
  const cache_key key(internals::name(ports.in.all), key_of_entry(ready.key).encoded());
  const auto limit = request.process.deadline; // counts from the first look
  const auto begun = std::chrono::steady_clock::now();
  std::optional<member_set> told;
  std::vector<std::string> missed;
  for (int look = 0; look < max_looks; ++look) {
    std::vector<std::string> changes;
    if (auto found = find(ports, asked, ready, options, told, &changes)) return *found;
    if (look == 0) missed = explain_miss(ports, asked, ready, std::move(changes));
    const auto waited = std::chrono::duration_cast<std::chrono::milliseconds>(
        std::chrono::steady_clock::now() - begun);
    request.process.deadline = std::max(limit - waited, std::chrono::milliseconds{1});
    auto reply = ask_to_run(core, key, request, asked.priority, options);
    if (reply && (reply->again || !fits(asked, reply->result))) {
      told = std::move(reply->observations);
      continue;
    }
    return ran(ports, asked, finished(asked, std::move(reply), ready), ready, std::move(missed));
  }
  return finished(asked, run_alone(core, request, asked.priority, options), ready);
}

} // namespace

expected<action_cache> action_cache::open(runtime& in, std::string_view name) {
  auto results = in.open(name);
  if (!results) return fail(results.error());
  auto facts = cache_memo::open(in);
  if (!facts) return fail(facts.error());
  auto lasting = std::make_shared<cache_memo>(std::move(*facts));
  auto core = internals::core(in).shared_from_this();
  std::optional<key_history> keys;
  if (core->settings().keep_key_details) {
    auto opened = key_history::open(in);
    if (!opened) return fail(opened.error());
    keys = std::move(*opened);
  }
  return action_cache(std::make_shared<shared>(shared{std::move(core),
                                                      {*results, internals::local_tiers(*results)},
                                                      std::move(lasting),
                                                      std::move(keys)}));
}

expected<prepared_action> action_cache::shared::prepared(const action& asked,
                                                         const std::stop_token& stop) const {
  return prepare(asked, {core->processes(), *facts, stop, core->settings().watch_programs,
                         process::can_watch(), facts_while_open(facts)});
}

expected<action_outcome> action_cache::run(const action& asked, const call_options& options) const {
  auto& core = *shared_->core;
  auto ready = shared_->prepared(asked, options.stop());
  if (!ready) return fail(ready.error());
  return run_prepared(core, {shared_->results, *shared_->facts, core.settings().log, shared_->keys},
                      asked, std::move(*ready), options);
}

future<action_outcome> action_cache::run_async(const action& asked,
                                               const call_options& options) const {
  auto& core = *shared_->core;
  if (auto no = core.refusal()) return expected<action_outcome>(fail(*no));
  auto state = engine::call_state<action_outcome>::begin(options.stop());
  auto stop = std::make_shared<std::stop_source>();
  state->on_give_up([stop] { stop->request_stop(); });
  const completion<action_outcome> answer(state);
  engine::expire(core, state, options);
  core.callbacks().run([self = *this, asked, answer, stop] {
    answer.deliver(self.run(asked, call_options().stopped_by(stop->get_token())));
  });
  return future<action_outcome>(std::move(state));
}

expected<std::optional<action_outcome>> action_cache::find(const action& asked,
                                                           const call_options& options) const {
  auto ready = shared_->prepared(asked, options.stop());
  if (!ready) return fail(ready.error());
  if (!asked.is_cached || (asked.sees_undeclared && !discovers(ready->request)))
    return std::nullopt;
  const look_up_ports ports{shared_->results, *shared_->facts, shared_->core->settings().log,
                            shared_->keys};
  return hearth::find(ports, asked, *ready, options, std::nullopt);
}

expected<action_explanation> action_cache::explain(const action& asked) const {
  const auto& core = *shared_->core;
  auto& facts = *shared_->facts;
  const auto ready = prepare(asked, {shared_->core->processes(),
                                     facts,
                                     {},
                                     core.settings().watch_programs,
                                     process::can_watch()});
  if (!ready) return fail(ready.error());
  const call_options none;
  cached_entries entries(shared_->results, none);
  const auto base = key_of_entry(ready->key);
  const auto has = [&](const key& k) { return stored_outcome(asked, entries.get_here(k)); };
  action_explanation all;
  if (!discovers(ready->request)) {
    all.would_be_found = has(base).has_value();
    if (all.would_be_found) all.stored.push_back({});
    return all;
  }
  fingerprints::file_view files;
  for (const auto& observation : observations_in(stored_observations(entries, base))) {
    if (!has(key::tuple({base, observed_part(observation)}))) continue;
    auto change = change_since(observation, asked, ready->view, files, facts);
    all.would_be_found = all.would_be_found || change.empty();
    all.stored.push_back({std::move(change), read_in(observation)});
  }
  return all;
}

expected<structural_key> action_cache::key_of(const action& asked) const {
  const auto& core = *shared_->core;
  auto ready = prepare(asked, {shared_->core->processes(),
                               *shared_->facts,
                               {},
                               core.settings().watch_programs,
                               process::can_watch()});
  if (!ready) return fail(ready.error());
  return std::move(ready->key);
}

span_list action_cache::trace() const { return engine::take_trace(*shared_->core); }

} // namespace hearth
