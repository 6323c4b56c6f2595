// guarded_cache: entries that hold under a condition. Several variants a key, each an entry of its
// own under (key, digest of guard and payload), and a list under (key, "variants") that names them.
//
// Owns nothing but its work in progress: entries live in a named cache, in every tier of it.
#pragma once

#include "actors/shard_router.hpp"
#include "actors/shared_promise.hpp"
#include "messages/guard.hpp"
#include "messages/protocol.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace hearth::actors {

struct guarded_cache_state {
  static inline const char* name = "guarded_cache";

  /// A line of a key's list.
  struct variant {
    std::string digest; ///< 32 bytes; the order in which variants are tried
    std::string guard;
  };
  using variant_list = std::vector<variant>;

  /// A lookup on its way along the list.
  struct search {
    cache_key key;
    hints values;
    variant_list variants;
    std::size_t next = 0;
    guarded_reply reply;
    shared_promise<guarded_reply> promise;
  };

  /// A variant on its way into the list.
  struct addition {
    cache_key key;
    std::string guard;
    artifact value;
    shared_promise<insert_outcome> promise;
  };

  shard_router shards;
  /// Guards that were parsed before, by their text; bounded.
  std::unordered_map<std::string, expected<guard_expression>> parsed;
};
using guarded_cache_pointer = guarded_cache_actor::stateful_pointer<guarded_cache_state>;

guarded_cache_actor::behavior_type guarded_cache(guarded_cache_pointer self, shard_router shards);

} // namespace hearth::actors
