// metrics: every counter of a runtime as one page for Prometheus.
//
// Owns nothing: each time it is asked it asks who does. A tier that does not answer in time is left
// out, and the page says how many were. Runs on a thread of its own, since the store's figures are
// read from its files.
#pragma once

#include "actors/shard_router.hpp"
#include "messages/protocol.hpp"
#include "storage/disk/store.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <memory>
#include <string>

namespace hearth::actors {

struct metrics_config {
  std::string version; ///< of the program
  shard_router shards;
  std::shared_ptr<storage::store> store; ///< null: no disk tier
  remote_tier_actor remote;              ///< null: no remote tier
  compile_broker_actor broker;
};

struct metrics_state {
  static inline const char* name = "metrics";
  metrics_config config;
};
using metrics_pointer = metrics_actor::stateful_pointer<metrics_state>;

metrics_actor::behavior_type metrics(metrics_pointer self, metrics_config config);

} // namespace hearth::actors
