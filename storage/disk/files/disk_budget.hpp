// How much of the disk a shard takes, and how much it may.
//
// A segment may be begun when what is there, and what evicting one segment would append, fits into
// the budget. So that it does, a writer that begins a segment asks for room for the next one before
// that is needed: see eviction.hpp.
//
// Owner: a shard. Any thread; each answer is as of the moment in which it was measured.
#pragma once

#include "storage/disk/files/shard_files.hpp"

#include <cstdint>
#include <vector>

namespace hearth::storage::disk {

struct disk_use {
  std::uint64_t bytes = 0;             ///< of everything
  std::uint64_t retired_bytes = 0;     ///< of segments below the oldest
  std::vector<std::uint64_t> segments; ///< ascending
};

/// How much room a writer asks for.
struct room_request {
  std::uint64_t needed = 0; ///< what must fit into the budget
  std::uint64_t wanted = 0; ///< what fits after an eviction that had to make room
};

class disk_budget {
public:
  explicit disk_budget(const shard_files& files) noexcept
      : files_(files) {}

  disk_use measure() const;
  /// Bytes that the shard may take. While the disk is full that is what it takes already, so that
  /// writes are refused and nothing is evicted for them.
  std::uint64_t limit(const disk_use& use) const noexcept;
  bool has_room(const disk_use& use, std::uint64_t bytes) const noexcept {
    return use.bytes + bytes <= limit(use) || is_bare(use);
  }
  /// Whether an empty active segment is all there is: the budget may be smaller than the least that
  /// a store takes.
  bool is_bare(const disk_use& use) const noexcept;

  /// At most so much of an evicted segment is appended again.
  std::uint64_t copy_bytes() const noexcept { return files_.roll_limit() / 2; }
  /// What an eviction may take before it frees something: copies, blocks that are not full yet, and
  /// the tables that segments get.
  std::uint64_t reserve_bytes() const noexcept { return copy_bytes() + files_.roll_limit() / 4; }
  /// For the next segment, and the one after it.
  room_request room_to_roll() const noexcept {
    return {reserve_bytes(), reserve_bytes() + files_.roll_limit()};
  }

private:
  const shard_files& files_;
};

} // namespace hearth::storage::disk
