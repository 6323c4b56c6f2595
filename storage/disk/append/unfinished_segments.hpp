// The segments that this process wrote and that still need a sync or a table at their end. Their
// files stay open until they are synced, since the system reports a write error to the descriptors
// that were open.
//
// Owner: a shard. Only the holder of the shard's lock uses it.
#pragma once

#include "storage/disk/os/file_system.hpp"
#include "storage/disk/segment/written_records.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace hearth::storage::disk {

class unfinished_segments {
public:
  using open_files = std::map<std::uint64_t, std::shared_ptr<file>>;
  /// A segment and the lines of its table, if they are known.
  using table_to_write = std::pair<std::uint64_t, std::vector<table_entry>>;

  /// The records that this process appended to segments without a table.
  written_records written;

  /// The active segment ends at `end`; another segment is active now.
  void add_left(location end, std::shared_ptr<file> opened);
  /// A large value's segment is complete. It gets no table.
  void add_large(std::uint64_t segment, file opened);
  /// The segment was removed.
  void forget(std::uint64_t segment);
  /// These segments were synced.
  void forget_synced(const open_files& synced, std::uint64_t active);

  /// Unsynced files, by segment.
  const open_files& unsynced() const noexcept { return unsynced_; }
  /// Removes and returns the segments that need a table.
  std::vector<table_to_write> take_untabled();

private:
  open_files unsynced_;
  std::vector<std::uint64_t> untabled_;
};

} // namespace hearth::storage::disk
