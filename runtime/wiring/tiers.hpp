// The tiers of one process as actors: spawned here for the runtime, for a simulated process and for
// tests, from the ports that each provides.
//
// Spawned on any thread; the result is plain handles.
#pragma once

#include "actors/ports/log_sink.hpp"
#include "actors/remote_tier.hpp"
#include "actors/shard_router.hpp"
#include "messages/protocol.hpp"
#include "storage/disk/store.hpp"
#include "storage/memory/memory_view.hpp"

#include <caf/actor.hpp>
#include <caf/actor_system.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace hearth::wiring {

/// Where blocking actors run: on threads of their own, or with all others (stepped systems).
enum class blocking_actors { own_threads, pooled };

/// The parts from which the tiers of a process are made.
struct tier_ports {
  blocking_actors blocking = blocking_actors::own_threads;
  std::shared_ptr<storage::store> store;            ///< null: no disk tier
  bool leases = true;                               ///< opens leases; a read-only store has none
  std::optional<actors::remote_tier_config> remote; ///< empty: no remote tier
  /// The tiers behind it, nearest first; only with `remote`.
  std::vector<actors::remote_tier_config> farther;
  /// The cache of this name and version as this process uses it, or one on disk only. Any thread.
  std::function<named_cache_ptr(const cache_id&)> cache_of;
  unsigned memory_shards = 1;
  storage::memory_index_options index; ///< options of each memory shard
  /// How long a caller waits for another caller's compile.
  std::chrono::milliseconds patience{300'000};
  std::function<void(std::string_view)> waits; ///< told of long waits; may be empty
  actors::log_sink log;
};

struct tier_actors {
  std::vector<std::shared_ptr<storage::memory_view>> views; ///< one per memory shard
  actors::shard_router shards;
  std::vector<disk_shard_actor> disk_shards; ///< one per shard of the store
  remote_tier_actor remote;                  ///< null: none; of several: their chain
  std::vector<remote_tier_actor> remotes;    ///< of several: each, nearest first
};

/// Whether requests should ask the remote tiers of these ports: the gate of the only one, or one of
/// all. Before they are spawned.
std::shared_ptr<const actors::remote_gate> join_gates(const tier_ports& ports);

/// Spawns the remote tiers, if there are any, an actor for each shard of the store, and the memory
/// shards over them.
tier_actors spawn_tiers(caf::actor_system& system, tier_ports ports);

/// Adds the actors to `all`, in the order in which they end: each before those that it asks.
void append(std::vector<caf::actor>& all, const tier_actors& tiers);

} // namespace hearth::wiring
