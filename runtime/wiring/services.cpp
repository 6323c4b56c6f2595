#include "runtime/wiring/services.hpp"

#include "actors/action_cache.hpp"
#include "actors/artifact_recorder.hpp"
#include "actors/autotune_bundler.hpp"
#include "actors/autotune_cache.hpp"
#include "actors/compile_broker.hpp"
#include "actors/guarded_cache.hpp"
#include "actors/kernel_tuner.hpp"
#include "actors/metrics.hpp"
#include "actors/nested_cache.hpp"
#include "runtime/wiring/spawn_blocking.hpp"

#include <caf/actor_cast.hpp>

#include <utility>

namespace hearth::wiring {
namespace {

std::vector<compile_worker_actor> spawn_workers(caf::actor_system& system,
                                                const service_ports& ports) {
  std::vector<compile_worker_actor> all;
  for (unsigned i = 0; i < ports.workers; ++i)
    all.push_back(spawn_blocking(system, ports.blocking, actors::compile_worker, ports.programs));
  return all;
}

kernel_tuner_actor spawn_tuner(caf::actor_system& system, const tier_actors& tiers,
                               const service_actors& services, const service_ports& ports) {
  actors::kernel_tuner_config config;
  config.trace = ports.trace;
  config.shards = tiers.shards;
  config.broker = services.broker;
  config.actions = services.actions;
  config.guarded = services.guarded;
  config.autotune = services.autotune;
  config.max_at_once = static_cast<unsigned>(services.workers.size());
  return system.spawn(actors::kernel_tuner, std::move(config));
}

metrics_actor spawn_metrics(caf::actor_system& system, const tier_actors& tiers,
                            const service_actors& services, const service_ports& ports) {
  actors::metrics_config config{ports.version, tiers.shards,    ports.store,
                                tiers.remote,  services.broker, ports.caches};
  return spawn_blocking(system, ports.blocking, actors::metrics, std::move(config));
}

} // namespace

service_actors spawn_services(caf::actor_system& system, const tier_actors& tiers,
                              const service_ports& ports) {
  service_actors made;
  made.workers = spawn_workers(system, ports);
  made.broker = system.spawn(actors::compile_broker, made.workers);
  made.guarded = system.spawn(actors::guarded_cache, tiers.shards);
  made.recorder = system.spawn(actors::artifact_recorder, 0);
  made.bundler = system.spawn(actors::autotune_bundler, tiers.shards);
  made.autotune =
      system.spawn(actors::autotune_cache,
                   actors::autotune_cache_config{tiers.shards, made.bundler, made.recorder});
  made.actions = system.spawn(actors::action_cache,
                              actors::action_cache_config{tiers.shards, made.broker, ports.trace});
  made.tuner = spawn_tuner(system, tiers, made, ports);
  made.metrics = spawn_metrics(system, tiers, made, ports);
  return made;
}

kernel_cache_actor spawn_kernel_cache(caf::actor_system& system,
                                      actors::kernel_cache_config config) {
  return system.spawn(actors::kernel_cache, std::move(config));
}

nested_cache_actor spawn_nested_cache(caf::actor_system& system,
                                      const actors::shard_router& shards) {
  return system.spawn(actors::nested_cache, shards);
}

void append(std::vector<caf::actor>& all, const service_actors& services) {
  const auto add = [&](const auto& actor) { all.push_back(caf::actor_cast<caf::actor>(actor)); };
  add(services.metrics);
  add(services.tuner);
  add(services.actions);
  add(services.recorder);
  add(services.autotune);
  add(services.bundler);
  add(services.guarded);
  add(services.broker);
  for (const auto& worker : services.workers)
    add(worker);
}

} // namespace hearth::wiring
