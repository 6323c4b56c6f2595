// autotune_cache: looks up and saves the best known configuration of a kernel, in a local and a
// remote named cache.
//
// Owns only its requests in progress. It notes each tuning that it saves or finds in the local
// cache for the bundler and recorder sessions that its callers name.
#pragma once

#include "actors/shard_router.hpp"
#include "messages/protocol.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

namespace hearth::actors {

struct autotune_cache_config {
  shard_router shards;
  autotune_bundler_actor bundler;   ///< null: nothing is bundled
  artifact_recorder_actor recorder; ///< null: nothing is recorded
};

struct autotune_cache_state {
  static inline const char* name = "autotune_cache";
  autotune_cache_config config;
};
using autotune_cache_pointer = autotune_cache_actor::stateful_pointer<autotune_cache_state>;

autotune_cache_actor::behavior_type autotune_cache(autotune_cache_pointer self,
                                                   autotune_cache_config config);

} // namespace hearth::actors
