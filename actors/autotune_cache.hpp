// autotune_cache: the best configuration known for a key, over a named cache.
//
// Owns nothing but its work in progress.
#pragma once

#include "actors/shard_router.hpp"
#include "messages/protocol.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

namespace hearth::actors {

struct autotune_cache_state {
  static inline const char* name = "autotune_cache";
  shard_router shards;
};

autotune_cache_actor::behavior_type
autotune_cache(autotune_cache_actor::stateful_pointer<autotune_cache_state> self,
               shard_router shards);

/// The record as it is stored: a msgpack map of config, configs_hash, found_by_coordesc,
/// time_taken_ns and time_taken_ms (floor).
artifact encode_record(const autotune_record& record);
/// Errors: `malformed` when a field is missing or of another kind.
expected<autotune_record> decode_record(const artifact& stored);

} // namespace hearth::actors
