// kernel_cache: the fuser's cache. The normal text of a graph leads to the spec of its kernel, and
// every spec that was saved has a number.
//
// Owns its table. With a named cache behind it, specs are kept in all tiers of that under their
// graph; numbers are of this process alone.
#pragma once

#include "actors/shard_router.hpp"
#include "messages/protocol.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>

namespace hearth::actors {

struct kernel_cache_config {
  std::uint64_t max_kernels = 0; ///< the oldest goes when there are more; 0: no bound
  named_cache_ptr kept_in;       ///< null: specs end with this actor
  shard_router shards;           ///< of `kept_in`
};

struct kernel_cache_state {
  static inline const char* name = "kernel_cache";

  struct kernel {
    std::string graph; ///< its normal text
    artifact spec;
  };

  kernel_cache_config config;
  std::int64_t next_id = 0;
  std::map<std::int64_t, kernel> kernels;
  std::unordered_map<std::string, std::int64_t> first_of; ///< the first kernel of each graph
};
using kernel_cache_pointer = kernel_cache_actor::stateful_pointer<kernel_cache_state>;

kernel_cache_actor::behavior_type kernel_cache(kernel_cache_pointer self,
                                               kernel_cache_config config);

} // namespace hearth::actors
