// The segments that this process wrote and that still need something: a sync, or the table that
// ends them. Their files stay open until they are synced, since the system tells an error to those
// that had the file open.
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
  /// A segment and the lines of its table, as far as they are known.
  using table_to_write = std::pair<std::uint64_t, std::vector<table_entry>>;

  /// What this process appended to segments that have no table yet.
  written_records written;

  /// The active segment was left at `end` for the next one.
  void add_left(location end, std::shared_ptr<file> opened);
  /// A large value's segment is complete. It gets no table.
  void add_large(std::uint64_t segment, file opened);
  /// The segment was removed.
  void forget(std::uint64_t segment);
  /// These segments were synced.
  void forget_synced(const open_files& synced, std::uint64_t active);

  /// Files that are not synced, by segment.
  const open_files& unsynced() const noexcept { return unsynced_; }
  /// Hands over the segments that need a table.
  std::vector<table_to_write> take_untabled();

private:
  open_files unsynced_;
  std::vector<std::uint64_t> untabled_;
};

} // namespace hearth::storage::disk
