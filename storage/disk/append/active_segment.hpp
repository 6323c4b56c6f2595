// The active segment, which the shard appends to: opens it, allocates its blocks, writes batches of
// records at its tail, and moves on to the next segment.
//
// Owner: a shard. Only the holder of the shard's lock uses it. Another process may have appended,
// or begun the next segment, since this one last held the lock: the caller calls `open` first.
#pragma once

#include "messages/error.hpp"
#include "storage/disk/append/append_batch.hpp"
#include "storage/disk/append/index_writer.hpp"
#include "storage/disk/append/unfinished_segments.hpp"
#include "storage/disk/files/disk_budget.hpp"

#include <cstdint>
#include <memory>

namespace hearth::storage::disk {

/// The result of writing a batch.
struct append_result {
  std::size_t complete = 0; ///< records that are written and published
  error why{};              ///< the error when not all of them are
};

class active_segment {
public:
  active_segment(shard_files& files, const disk_budget& space, index_writer& index,
                 unfinished_segments& unfinished) noexcept
      : files_(files)
      , space_(space)
      , index_(index)
      , unfinished_(unfinished) {}

  /// Opens the segment of the tail, or begins the next one if it is gone or damaged.
  expected<void> open();
  /// Writes and publishes a batch that was planned for the tail, after `open`.
  append_result append(append_batch& work);
  /// Appends a record that marks the torn bytes between `start` and the tail as never acknowledged,
  /// so that they do not count as damage later. False when there is no room for the record.
  bool append_hole(location start);

  /// Begins the next segment. False: it does not fit into the budget. Requests an eviction when no
  /// further segment fits.
  expected<bool> roll();
  /// Begins the next segment without regard to the budget.
  expected<void> begin_next();
  /// Allocates a number that no segment ever had.
  expected<std::uint64_t> take_number();

  /// The file of this segment; null: this process does not append to it.
  std::shared_ptr<file> file_of(std::uint64_t segment) const {
    return segment == segment_ ? file_ : nullptr;
  }
  /// Closes the open file, after the head was rebuilt.
  void close() noexcept { file_.reset(); }

private:
  expected<bool> open_file(location end);
  expected<void> allocate_to(std::uint64_t end);
  expected<file> make_next(std::uint64_t& number);

  shard_files& files_;
  const disk_budget& space_;
  index_writer& index_;
  unfinished_segments& unfinished_;
  std::shared_ptr<file> file_;  // shared with a flush that is syncing it
  std::uint64_t segment_ = 0;   // number of the segment in file_
  std::uint64_t allocated_ = 0; // bytes of the file that have blocks
};

} // namespace hearth::storage::disk
