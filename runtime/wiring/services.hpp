// The actors above the tiers of a process: they run programs, and keep caches made of several
// entries. Spawned here for the runtime, for a simulated process and for tests.
//
// Spawned on any thread; the result is plain handles.
#pragma once

#include "actors/compile_worker.hpp"
#include "actors/kernel_cache.hpp"
#include "actors/ports/trace_log.hpp"
#include "messages/cache_counters.hpp"
#include "runtime/wiring/tiers.hpp"

#include <functional>
#include <string>
#include <vector>

namespace hearth::wiring {

struct service_ports {
  blocking_actors blocking = blocking_actors::own_threads;
  actors::worker_ports programs;
  unsigned workers = 1;                  ///< programs that run concurrently
  std::string version;                   ///< shown in the metrics
  std::shared_ptr<storage::store> store; ///< shown in the metrics; null: no disk tier
  std::function<std::vector<named_cache_counts>()> caches; ///< shown in the metrics; may be empty
  std::shared_ptr<actors::trace_log> trace{};              ///< null: no trace
};

struct service_actors {
  std::vector<compile_worker_actor> workers;
  compile_broker_actor broker;
  guarded_cache_actor guarded;
  artifact_recorder_actor recorder;
  autotune_bundler_actor bundler;
  autotune_cache_actor autotune;
  action_cache_actor actions;
  kernel_tuner_actor tuner;
  metrics_actor metrics;
};

/// Spawns the service actors over these tiers.
service_actors spawn_services(caf::actor_system& system, const tier_actors& tiers,
                              const service_ports& ports);

/// The actor of one open kernel cache.
kernel_cache_actor spawn_kernel_cache(caf::actor_system& system,
                                      actors::kernel_cache_config config);

/// The actor of one open nested cache.
nested_cache_actor spawn_nested_cache(caf::actor_system& system,
                                      const actors::shard_router& shards);

/// Adds the actors to `all`, in the order in which they end: each before those that it asks.
void append(std::vector<caf::actor>& all, const service_actors& services);

} // namespace hearth::wiring
