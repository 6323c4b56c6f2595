// The named caches of tunings in a runtime.
#pragma once

#include "messages/cache_key.hpp"

namespace hearth {

namespace engine {
class runtime_core;
} // namespace engine

struct tuning_caches {
  /// A cache that the host opened with other options is null: its function is off.
  explicit tuning_caches(engine::runtime_core& core);

  named_cache_ptr local;   ///< best configuration of each kernel, on this host
  named_cache_ptr remote;  ///< the same for the fleet: in the remote tier only
  named_cache_ptr bundles; ///< bundles of sessions: in the remote tier only
  named_cache_ptr times;   ///< timings of choices, on this host
};

/// The cache of tunings in Inductor's form: in the remote tier only. Null as above.
named_cache_ptr open_inductor_tunings(engine::runtime_core& core);

} // namespace hearth
