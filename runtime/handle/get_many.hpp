// Many keys together. Any thread.
#pragma once

#include "runtime/cache.hpp"
#include "runtime/core.hpp"

namespace hearth {

/// What memory and disk have, read on this thread.
lookup_list get_locally(runtime_core& core, const named_cache_ptr& cache,
                        std::span<const key> keys);

/// The same by messages alone, one a shard, through every tier.
future<lookup_list> get_by_message(runtime_core& core, const named_cache_ptr& cache,
                                   std::span<const key> keys, const call_options& options);

} // namespace hearth
