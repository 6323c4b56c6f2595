// kernel_cache: the fuser's cache. It maps the normal text of a graph to the spec of its kernel,
// and gives every saved spec a number.
//
// Owns its table. With a named cache, specs are also kept in all tiers of that cache under their
// graph; numbers are valid in this process only.
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
  std::uint64_t max_kernels = 0; ///< with more, the oldest is removed; 0: no bound
  named_cache_ptr kept_in;       ///< null: specs are lost when this actor ends
  shard_router shards;           ///< the shards of `kept_in`
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
