// remote_chain: several remote tiers one behind the other, for the memory shards one tier. It asks
// the nearest first, gives the nearer ones what a farther one has, and tells all of every change.
// With a single remote tier there is none: the shards talk to that tier.
//
// A pooled, event-based actor: it never blocks.
#pragma once

#include "actors/shared_promise.hpp"
#include "messages/protocol.hpp"
#include "messages/remote_mode.hpp"
#include "storage/disk/change_journal.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace hearth::actors {

/// One of the tiers.
struct chained_tier {
  remote_tier_actor actor;
  std::string log; ///< its log of purges, as `storage::name_of_log` names it
  remote_mode mode = remote_mode::read_write;
  std::function<bool(const cache_id&)> takes{};       ///< the caches that use it; empty: all
  std::shared_ptr<storage::change_journal> journal{}; ///< null: it takes no changes
  std::chrono::milliseconds drain_deadline{5'000};    ///< for its writes at shutdown
};

struct remote_chain_config {
  std::vector<chained_tier> tiers; ///< nearest first
};

struct remote_chain_state {
  static inline const char* name = "remote_chain";

  /// Keys that one request looks up together.
  struct question {
    key_list keys;
    lookup_list answers;
    std::vector<std::size_t> open; ///< the indices of keys that no tier had so far
    std::vector<bool> is_asked;    ///< by key: some tier was
    std::uint64_t began = 0;       ///< `last_event` when it came
    std::uint64_t change = 0;      ///< the last change of the host then
    shared_promise<lookup_list> reply;
  };
  /// A set that the tiers are asked for together.
  struct asked_set {
    cache_key key;
    std::uint64_t began = 0;
    std::size_t open = 0;             ///< answers in flight
    std::vector<std::size_t> asked;   ///< the tiers
    std::vector<fleet_members> found; ///< by place in `asked`
    shared_promise<fleet_members> reply;
  };

  remote_chain_config config;
  /// The tier that granted the fleet's lease.
  std::unordered_map<cache_key, std::size_t, cache_key_hash> leases;
  /// What is on its way from a tier may be older than a change or purge of its entry: while
  /// look-ups are open, when each entry was changed last. Bounded: beyond, all count as changed.
  std::unordered_map<cache_key, std::uint64_t, cache_key_hash> changed;
  std::uint64_t all_changed = 0;
  std::uint64_t last_event = 0;
  std::size_t open_lookups = 0;
};

/// Adds the counts of another cache, or of the same one at another tier; names stay.
void add_counts(remote_cache_counts& into, const remote_cache_counts& more);

/// The sums of several tiers' counters, as `remote_tier_stats` says.
remote_tier_stats sum_of(std::vector<remote_tier_stats> each);

/// The chain's behaviour.
remote_chain_actor::behavior_type
remote_chain(remote_chain_actor::stateful_pointer<remote_chain_state> self,
             remote_chain_config config);

} // namespace hearth::actors
