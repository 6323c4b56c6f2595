#include "runtime/actions/find_result.hpp"

#include "runtime/actions/observation.hpp"

#include <utility>

namespace hearth {
namespace {

std::optional<action_outcome> find_observed(const find_ports& ports, const action& asked,
                                            prepared_action& ready,
                                            const std::optional<member_set>& told) {
  const auto base = key_of_entry(ready.key);
  const auto known = told ? *told : stored_observations(ports.in, base);
  ready.request.seen = digest_of(known);
  fingerprints::file_view files;
  for (const auto& observation : observations_in(known)) {
    const auto change = change_since(observation, asked, ready.view, files, ports.facts);
    if (!change.empty()) {
      if (ports.outdated) ports.outdated(change);
      continue;
    }
    const auto entry_key = key::tuple({base, observed_part(observation)});
    const auto entry = ports.in.get(entry_key);
    auto found = stored_outcome(asked, entry);
    if (found) {
      if (ports.held) ports.held(observation, entry_key);
      return found;
    }
    if (entry) ports.in.erase(entry_key);
  }
  return std::nullopt;
}

} // namespace

std::optional<action_outcome> find_result(const find_ports& ports, const action& asked,
                                          prepared_action& ready,
                                          const std::optional<member_set>& told) {
  if (discovers(ready.request)) return find_observed(ports, asked, ready, told);
  return stored_outcome(asked, ports.in.get(key_of_entry(ready.key)));
}

key key_of_entry(const structural_key& of) { return key(of.text()); }

member_set stored_observations(entry_source& in, const key& base) {
  const auto entry = in.get_here(key::tuple({base, observations_part()}));
  return entry ? decode_members(entry.payload()).value_or(member_set{}) : member_set{};
}

std::optional<action_outcome> stored_outcome(const action& asked, const artifact& entry) {
  if (!entry) return std::nullopt;
  auto result = decode_result(entry);
  if (!result || !fits(asked, *result)) return std::nullopt;
  return outcome_of(asked, action_reply{std::move(*result), false, false, {}});
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

bool fits(const action& asked, const action_result& result) {
  return result.outputs.size() == (result.process.succeeded() ? asked.outputs.size() : 0);
}

} // namespace hearth
