#include "runtime/caches/actions/action_cache.hpp"

#include "runtime/caches/actions/action_key.hpp"
#include "runtime/caches/actions/observation.hpp"
#include "runtime/caches/facts/cache_memo.hpp"
#include "runtime/engine/calls/ask_actor.hpp"
#include "runtime/engine/calls/requests.hpp"
#include "runtime/engine/core.hpp"
#include "runtime/handle/internals.hpp"

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
};

namespace {

// What a look-up needs besides the action.
struct look_up_ports {
  const result_caches& in;
  fingerprints::fact_memo& facts;
  const log_callback& log; // may be empty
};

// The number of lookups: other processes may add observations between them. After the last one the
// action runs without the cache.
constexpr int max_looks = 64;

key key_of_entry(const structural_key& of) { return key(of.text()); }

// An error of the cache counts as a miss.
artifact get(const cache& from, const key& k, const call_options& options) {
  auto found = from.get(k, options);
  return found && found->hit() ? std::move(found->value) : artifact{};
}

action_outcome outcome_of(const action& asked, action_reply reply) {
  auto& process = reply.result.process;
  action_outcome outcome;
  outcome.status = process.exit_status;
  outcome.signal = process.signal;
  outcome.timed_out = process.timed_out;
  outcome.out = std::move(process.output);
  outcome.err = std::move(process.errors);
  outcome.found = !reply.ran;
  outcome.time_taken_ns = process.wall_ns;
  outcome.problem = std::move(reply.problem);
  outcome.has_unknown_inputs = tells_of_unknown_inputs(outcome.problem);
  for (std::size_t i = 0; i < reply.result.outputs.size(); ++i)
    outcome.outputs.push_back({asked.outputs[i], reply.result.outputs[i],
                               i < reply.result.executable.size() && reply.result.executable[i]});
  return outcome;
}

// False for the result of another action (a forged entry).
bool fits(const action& asked, const action_result& result) {
  return result.outputs.size() == (result.process.succeeded() ? asked.outputs.size() : 0);
}

std::optional<action_outcome> outcome_of(const action& asked, const artifact& entry) {
  if (!entry) return std::nullopt;
  auto result = decode_result(entry);
  if (!result || !fits(asked, *result)) return std::nullopt;
  return outcome_of(asked, action_reply{std::move(*result), false, false, {}});
}

// The observations that this host has stored; the actor asks the fleet for others.
member_set stored_observations(const result_caches& in, const key& base,
                               const call_options& options) {
  const auto entry = get(in.local, key::tuple({base, observations_part()}), options);
  return entry ? decode_members(entry.payload()).value_or(member_set{}) : member_set{};
}

// Returns the result of the latest observation that holds. `told`: those that the actor has told
// of. `seen` becomes the digest of the observations.
std::optional<action_outcome> find_observed(const look_up_ports& ports, const action& asked,
                                            prepared_action& ready, const call_options& options,
                                            const std::optional<member_set>& told) {
  const auto base = key_of_entry(ready.key);
  const auto known = told ? *told : stored_observations(ports.in, base, options);
  ready.request.seen = digest_of(known);
  fingerprints::file_view files;
  for (const auto& observation : observations_in(known)) {
    const auto change = change_since(observation, asked, ready.request.view, files, ports.facts);
    if (!change.empty()) {
      if (ports.log) ports.log(log_level::debug, "a stored result is of other inputs: " + change);
      continue;
    }
    const auto entry_key = key::tuple({base, observed_part(observation)});
    const auto entry = get(ports.in.all, entry_key, options);
    auto found = outcome_of(asked, entry);
    if (found) return found;
    if (entry) (void)ports.in.all.erase(entry_key); // damaged: the next result takes its place
  }
  return std::nullopt;
}

std::optional<action_outcome> find(const look_up_ports& ports, const action& asked,
                                   prepared_action& ready, const call_options& options,
                                   const std::optional<member_set>& told) {
  if (discovers(ready.request)) return find_observed(ports, asked, ready, options, told);
  return outcome_of(asked, get(ports.in.all, key_of_entry(ready.key), options));
}

// Asks the action cache's actor to run the request. The run is killed when no caller waits for it.
expected<action_reply> ask_to_run(engine::runtime_core& core, const cache_key& key,
                                  const action_request& request, int priority,
                                  const call_options& options) {
  if (auto no = core.refusal()) return fail(*no);
  if (options.cancel.stop_requested()) return fail(engine::called_off());
  auto state = engine::call_state<action_reply>::begin(options.cancel);
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
  const std::stop_callback on_cancel(options.cancel, [&] { stop.request_stop(); });
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
  for (int look = 0; look < max_looks; ++look) {
    if (auto found = find(ports, asked, ready, options, told)) return *found;
    const auto waited = std::chrono::duration_cast<std::chrono::milliseconds>(
        std::chrono::steady_clock::now() - begun);
    request.process.deadline = std::max(limit - waited, std::chrono::milliseconds{1});
    auto reply = ask_to_run(core, key, request, asked.priority, options);
    if (reply && (reply->again || !fits(asked, reply->result))) {
      told = std::move(reply->observations);
      continue;
    }
    return finished(asked, std::move(reply), ready);
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
  return action_cache(std::make_shared<shared>(shared{internals::core(in).shared_from_this(),
                                                      {*results, internals::local_tiers(*results)},
                                                      std::move(lasting)}));
}

expected<action_outcome> action_cache::run(const action& asked, const call_options& options) const {
  auto& core = *shared_->core;
  auto ready = prepare(asked, {core.processes(), *shared_->facts, options.cancel,
                               core.settings().watch_programs, facts_while_open(shared_->facts)});
  if (!ready) return fail(ready.error());
  return run_prepared(core, {shared_->results, *shared_->facts, core.settings().log}, asked,
                      std::move(*ready), options);
}

future<action_outcome> action_cache::run_async(const action& asked,
                                               const call_options& options) const {
  auto& core = *shared_->core;
  if (auto no = core.refusal()) return expected<action_outcome>(fail(*no));
  auto state = engine::call_state<action_outcome>::begin(options.cancel);
  auto stop = std::make_shared<std::stop_source>();
  state->on_give_up([stop] { stop->request_stop(); });
  const completion<action_outcome> answer(state);
  engine::expire(core, state, options);
  core.callbacks().run([self = *this, asked, answer, stop] {
    answer.deliver(self.run(asked, {.cancel = stop->get_token()}));
  });
  return future<action_outcome>(std::move(state));
}

expected<action_explanation> action_cache::explain(const action& asked) const {
  const auto& core = *shared_->core;
  auto& facts = *shared_->facts;
  const auto ready =
      prepare(asked, {shared_->core->processes(), facts, {}, core.settings().watch_programs});
  if (!ready) return fail(ready.error());
  const auto& results = shared_->results;
  const auto base = key_of_entry(ready->key);
  const auto has = [&](const key& k) { return outcome_of(asked, get(results.local, k, {})); };
  action_explanation all;
  if (!discovers(ready->request)) {
    all.would_be_found = has(base).has_value();
    if (all.would_be_found) all.stored.push_back({});
    return all;
  }
  fingerprints::file_view files;
  for (const auto& observation : observations_in(stored_observations(results, base, {}))) {
    if (!has(key::tuple({base, observed_part(observation)}))) continue;
    auto change = change_since(observation, asked, ready->request.view, files, facts);
    all.would_be_found = all.would_be_found || change.empty();
    all.stored.push_back({std::move(change), read_in(observation)});
  }
  return all;
}

expected<structural_key> action_cache::key_of(const action& asked) const {
  auto ready = prepare(asked, {shared_->core->processes(), *shared_->facts, {}});
  if (!ready) return fail(ready.error());
  return std::move(ready->key);
}

span_list action_cache::trace() const {
  auto& core = *shared_->core;
  return engine::ask_actor<span_list>(core, core.broker(), verb::trace_v).value_or(span_list{});
}

} // namespace hearth
