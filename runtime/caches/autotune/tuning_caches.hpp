// The named caches of what is tuned, as a runtime has them.
#pragma once

#include "messages/cache_key.hpp"

namespace hearth {

namespace engine {
class runtime_core;
} // namespace engine

struct tuning_caches {
  /// A cache that somebody opened with other options is null: what it is for is off.
  explicit tuning_caches(engine::runtime_core& core);

  named_cache_ptr local;   ///< the best of each kernel, of this host
  named_cache_ptr remote;  ///< the same, of the fleet: in the remote tier alone
  named_cache_ptr bundles; ///< of sessions: in the remote tier alone
  named_cache_ptr times;   ///< what measuring showed, of this host
};

} // namespace hearth
