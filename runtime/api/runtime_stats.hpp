// What a runtime counts, as its host reads it. Plain values.
#pragma once

#include "messages/replies.hpp"

#include <cstdint>
#include <optional>

namespace hearth {

/// Hits and misses of a tier since the runtime started. A get that misses memory asks the disk.
struct tier_counts {
  std::uint64_t hits = 0, misses = 0;
};

/// What a runtime counts.
struct runtime_stats {
  tier_counts memory, disk;
  std::optional<remote_tier_stats> remote; ///< nothing without a remote tier
  std::uint64_t entries = 0;               ///< in memory
  std::uint64_t bytes_used = 0;   ///< payloads, metadata, keys, tables and what waits to be freed
  std::uint64_t budget_bytes = 0; ///< of memory
  std::uint64_t inserted = 0, evicted = 0, erased = 0; ///< in memory
  std::uint64_t loads = 0;                             ///< looks below memory by actors, ...
  std::uint64_t coalesced = 0;   ///< ... and gets that joined one that was under way
  std::uint64_t promotions = 0;  ///< hits on disk kept in memory
  std::uint64_t unpersisted = 0; ///< in memory, and the disk could not take it yet
  std::uint64_t leases_granted = 0, leases_held = 0, leases_waiting = 0;
};

} // namespace hearth
