// nested_cache: trees of values in a named cache, one tree for each key; values are set and looked
// up by path. A tree is a set whose members are paths with their values, so concurrent changes by
// any thread, process or host are all kept; of two changes of one path the later one counts.
//
// A pooled, event-based actor: it never blocks.
#pragma once

#include "actors/shard_router.hpp"
#include "actors/shared_promise.hpp"
#include "messages/tree.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <string>

namespace hearth::actors {

struct nested_cache_state {
  static inline const char* name = "nested_cache";

  /// A value that is being set in a tree.
  struct change {
    cache_key key;
    tree_path path;
    value what;
    shared_promise<done> promise;
  };

  shard_router shards;
};
using nested_cache_pointer = nested_cache_actor::stateful_pointer<nested_cache_state>;

nested_cache_actor::behavior_type nested_cache(nested_cache_pointer self, shard_router shards);

} // namespace hearth::actors
