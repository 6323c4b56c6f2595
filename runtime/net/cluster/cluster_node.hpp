// A node of a cluster: the way to it, and whether it is well. Lives on the connections' thread.
#pragma once

#include "runtime/net/command_router.hpp"
#include "storage/remote/breaker.hpp"
#include "storage/resp/cluster_slots.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <utility>

namespace hearth::net {

struct cluster_node {
  using time_point = command_router::time_point;

  /// `seed` of the jitter between its probes.
  cluster_node(storage::cluster_address where, std::unique_ptr<command_router> way,
               std::uint64_t seed)
      : address(std::move(where))
      , lanes(std::move(way))
      , health({3, std::chrono::milliseconds(250), std::chrono::milliseconds(5'000), seed}) {}

  const storage::cluster_address address;
  const std::unique_ptr<command_router> lanes;
  /// Open: what it serves fails at once, until a probe succeeds.
  storage::breaker health;
  bool has_answered = false;               ///< since its breaker opened last
  bool is_apart = false;                   ///< it said last that the cluster is down
  time_point probe_at = time_point::max(); ///< max: no probe is due
  bool has_unsent = false;                 ///< its lanes have to be flushed
};

} // namespace hearth::net
