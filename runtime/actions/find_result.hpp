// Finds the stored result of an action. Reads files and entries; any thread.
#pragma once

#include "messages/artifact.hpp"
#include "messages/key.hpp"
#include "messages/member_set.hpp"
#include "messages/replies.hpp"
#include "runtime/actions/action.hpp"
#include "runtime/actions/action_key.hpp"
#include "runtime/fingerprints/toolchain/fact_memo.hpp"

#include <functional>
#include <optional>
#include <string>

namespace hearth {

/// Where results are stored: the entries of one named cache.
class entry_source {
public:
  virtual ~entry_source() = default;
  /// The entry in the nearest tier; empty: none has it.
  virtual artifact get(const key& k) = 0;
  /// The entry of this host's tiers.
  virtual artifact get_here(const key& k) = 0;
  /// Drops a damaged entry, so that the next result takes its place.
  virtual void erase(const key& k) = 0;
};

/// What a look-up needs besides the action.
struct find_ports {
  entry_source& in;
  fingerprints::fact_memo& facts;
  /// Called with what has changed since a stored result was made, for each that is passed over.
  std::function<void(const std::string& change)> outdated{};
  /// Called with the observation that holds, and the place of its result.
  std::function<void(const std::string& observation, const key& result)> held{};
};

/// The result of the latest observation that holds, or, if the action discovers nothing, the only
/// one. `told`: the observations that an actor has told of, instead of those that this host has
/// stored. Sets `ready.request.seen`.
std::optional<action_outcome> find_result(const find_ports& ports, const action& asked,
                                          prepared_action& ready,
                                          const std::optional<member_set>& told = std::nullopt);

/// The key under which an action's result, or its observations, are stored.
key key_of_entry(const structural_key& of);
/// The observations that this host has stored.
member_set stored_observations(entry_source& in, const key& base);
/// The outcome that an entry holds; nothing: it is empty, damaged, or of another action.
std::optional<action_outcome> stored_outcome(const action& asked, const artifact& entry);
/// The outcome of a reply of the action cache. The reply has as many outputs as the action.
action_outcome outcome_of(const action& asked, action_reply reply);
/// False for the result of another action (a forged entry).
bool fits(const action& asked, const action_result& result);

} // namespace hearth
