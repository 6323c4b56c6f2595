// A node of a cluster: the way to it, and whether it is well. Lives on the connections' thread.
#pragma once

#include "runtime/net/command_router.hpp"
#include "storage/remote/breaker.hpp"
#include "storage/resp/cluster_slots.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace hearth::net {

struct cluster_node {
  using time_point = command_router::time_point;

  /// `seed` of the jitter between its probes.
  cluster_node(std::uint64_t which, storage::cluster_address where,
               std::unique_ptr<command_router> way, std::uint64_t seed)
      : number(which)
      , address(std::move(where))
      , lanes(std::move(way))
      , health({3, std::chrono::milliseconds(250), std::chrono::milliseconds(5'000), seed})
      , writing({1, std::chrono::milliseconds(250), std::chrono::milliseconds(1'000), seed}) {}

  const std::uint64_t number; ///< no other node of the process has had it
  const storage::cluster_address address;
  const std::unique_ptr<command_router> lanes;
  /// Open: what it serves fails at once, until a probe succeeds.
  storage::breaker health;
  /// Open: it refuses writes, as when its memory is full. They wait, until one that is sent to see
  /// is taken; half open: that one is on its way.
  storage::breaker writing;
  std::uint64_t probing_write = 0; ///< the number of that request; 0: none
  std::string refusal;             ///< what it said to the last write that it refused
  time_point next_write_probe{};   ///< when one is sent to see
  std::size_t open = 0;            ///< commands that it has not answered
  /// When it was found to lead no slot any more; max: it leads some.
  time_point absent_since = time_point::max();
  bool has_answered = false;               ///< since its breaker opened last
  bool is_apart = false;                   ///< it said last that the cluster is down
  time_point probe_at = time_point::max(); ///< max: no probe is due
  bool has_unsent = false;                 ///< its lanes have to be flushed
};

} // namespace hearth::net
