// Lookups of many keys together. Any thread.
#pragma once

#include "messages/key.hpp"
#include "runtime/api/call_options.hpp"
#include "runtime/api/future.hpp"
#include "runtime/engine/core.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace hearth::engine {

struct local_answers {
  lookup_list answers;              ///< misses where nothing was found
  std::vector<std::size_t> missing; ///< positions of keys that memory and disk lack
};

/// Looks up the keys in memory and on disk, on this thread.
local_answers get_locally(runtime_core& core, const named_cache_ptr& cache,
                          std::span<const key> keys);

/// Requests the missing keys by messages, one per shard, through every tier. Returns all answers.
future<lookup_list> get_missing(runtime_core& core, const named_cache_ptr& cache,
                                std::span<const key> keys, local_answers known,
                                const call_options& options);

/// Requests all keys by messages.
future<lookup_list> get_by_message(runtime_core& core, const named_cache_ptr& cache,
                                   std::span<const key> keys, const call_options& options);

} // namespace hearth::engine
