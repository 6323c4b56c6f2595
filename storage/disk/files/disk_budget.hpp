// How much disk space a shard takes, and how much it may take.
//
// A writer may begin a segment when the space in use, and what the eviction of one segment would
// append, fit into the budget. To ensure this, a writer that begins a segment requests room for the
// next one in advance: see eviction.hpp.
//
// Owner: a shard. Any thread; each result is that of the moment of its measurement.
#pragma once

#include "storage/disk/files/shard_files.hpp"

#include <cstdint>
#include <vector>

namespace hearth::storage::disk {

struct disk_use {
  std::uint64_t bytes = 0;             ///< size of all files
  std::uint64_t retired_bytes = 0;     ///< size of segments below the oldest
  std::vector<std::uint64_t> segments; ///< ascending
};

/// How much room a writer requests.
struct room_request {
  std::uint64_t needed = 0; ///< bytes that must fit into the budget
  std::uint64_t wanted = 0; ///< bytes that fit after an eviction that had to make room
};

class disk_budget {
public:
  explicit disk_budget(const shard_files& files) noexcept
      : files_(files) {}

  disk_use measure() const;
  /// Bytes that the shard may take. On a nearly full disk, at least two segments above what it
  /// takes now: a writer then evicts nothing, and the disk refuses the write.
  std::uint64_t limit(const disk_use& use) const noexcept;
  bool has_room(const disk_use& use, std::uint64_t bytes) const noexcept {
    return use.bytes + bytes <= limit(use) || is_bare(use);
  }
  /// Whether the shard has only an empty active segment: the budget may be smaller than the minimum
  /// size of a store.
  bool is_bare(const disk_use& use) const noexcept;

  /// Maximum bytes of an evicted segment that are appended again.
  std::uint64_t copy_bytes() const noexcept { return files_.roll_limit() / 2; }
  /// Bytes that an eviction may take before it frees any: copies, blocks that are not full yet, and
  /// the tables of segments.
  std::uint64_t reserve_bytes() const noexcept { return copy_bytes() + files_.roll_limit() / 4; }
  /// Room for the next segment, and for the one after it.
  room_request room_to_roll() const noexcept {
    return {reserve_bytes(), reserve_bytes() + files_.roll_limit()};
  }

private:
  const shard_files& files_;
};

} // namespace hearth::storage::disk
