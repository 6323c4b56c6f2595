// metrics: every counter of a runtime as one page for Prometheus.
//
// Owns no figures: for each request it asks the actors that do. A tier that does not answer in time
// is left out, and the page counts such tiers. Runs on its own thread, since the store's figures
// are read from its files.
#pragma once

#include "actors/shard_router.hpp"
#include "messages/cache_counters.hpp"
#include "messages/protocol.hpp"
#include "storage/disk/store.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace hearth::actors {

struct metrics_config {
  std::string version; ///< the program's version
  shard_router shards;
  std::shared_ptr<storage::store> store; ///< null: no disk tier
  remote_tier_actor remote;              ///< null: no remote tier
  compile_broker_actor broker;
  std::function<std::vector<named_cache_counts>()> caches; ///< the counts of named caches, or empty
};

struct metrics_state {
  static inline const char* name = "metrics";
  metrics_config config;
};
using metrics_pointer = metrics_actor::stateful_pointer<metrics_state>;

metrics_actor::behavior_type metrics(metrics_pointer self, metrics_config config);

} // namespace hearth::actors
