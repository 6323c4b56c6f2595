// The tiers of one process as actors: wired here for the runtime, for a simulated process and for
// tests, from what each gives as ports.
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

#include <memory>
#include <optional>
#include <vector>

namespace hearth::wiring {

/// Where actors run that block: on threads of their own, or with all others (stepped systems).
enum class blocking_actors { own_threads, pooled };

/// What the tiers of a process are made from.
struct tier_ports {
  blocking_actors blocking = blocking_actors::own_threads;
  std::shared_ptr<storage::store> store;            ///< null: no disk tier
  bool leases = true;                               ///< of the store; a read-only one has none
  std::optional<actors::remote_tier_config> remote; ///< nothing: no remote tier
  unsigned memory_shards = 1;
  storage::memory_index_options index; ///< of each memory shard
  actors::log_sink log;
};

struct tier_actors {
  std::vector<std::shared_ptr<storage::memory_view>> views; ///< of each memory shard
  actors::shard_router shards;
  std::vector<disk_shard_actor> disk_shards; ///< of each shard of the store
  remote_tier_actor remote;                  ///< null: none
};

/// Spawns a remote tier if there is one, an actor for each shard of the store, and the memory
/// shards over them.
tier_actors spawn_tiers(caf::actor_system& system, tier_ports ports);

/// Adds them to `all`, in the order in which they end: who asks before whom it asks.
void append(std::vector<caf::actor>& all, const tier_actors& tiers);

} // namespace hearth::wiring
