// Removes segments: those below the oldest, and those of large values that were replaced or erased.
// The replacements of their entries must survive a power loss first.
//
// Owner: a shard. Any thread; it takes the lock once a segment.
#pragma once

#include "messages/error.hpp"
#include "storage/disk/sync/syncer.hpp"

#include <cstdint>
#include <vector>

namespace hearth::storage::disk {

class segment_removal {
public:
  segment_removal(shard_files& files, const disk_budget& space, unfinished_segments& unfinished,
                  write_access& access, syncer& syncs) noexcept
      : files_(files)
      , space_(space)
      , unfinished_(unfinished)
      , access_(access)
      , syncer_(syncs) {}

  /// Removes the segments below the oldest. Syncs first if necessary.
  expected<void> remove_retired();
  /// The same, called with the lock held, and without a sync: if a sync is needed, it removes
  /// nothing.
  void remove_retired_now();

  /// Returns the segments of large values that no slot points at any more.
  std::vector<std::uint64_t> find_dead_large();
  /// Removes the segments that `find_dead_large` returned. Syncs first: else an older record of a
  /// key could come back.
  expected<void> remove_dead_large(const std::vector<std::uint64_t>& dead);

private:
  bool may_remove() noexcept;
  int remove(std::uint64_t segment);
  bool is_dead_large(std::uint64_t segment);

  shard_files& files_;
  const disk_budget& space_;
  unfinished_segments& unfinished_;
  write_access& access_;
  syncer& syncer_;
};

} // namespace hearth::storage::disk
