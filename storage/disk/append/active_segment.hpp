// The segment that is appended to: opened, given blocks, left for the next one; and the writing of
// a batch of records at its tail.
//
// Owner: a shard. Only the holder of the shard's lock uses it. Another process may have appended,
// or begun the next segment, since this one last held the lock: `open` comes first.
#pragma once

#include "messages/error.hpp"
#include "storage/disk/append/append_batch.hpp"
#include "storage/disk/append/index_writer.hpp"
#include "storage/disk/append/unfinished_segments.hpp"
#include "storage/disk/files/disk_budget.hpp"

#include <cstdint>
#include <memory>

namespace hearth::storage::disk {

/// What became of a batch.
struct append_result {
  std::size_t complete = 0; ///< records that are written and published
  error why{};              ///< why not all of them are
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
  /// Says that what is torn between `start` and the tail was never acknowledged, so that it is not
  /// taken for damage later. False when there is no room for it.
  bool append_hole(location start);

  /// Begins the next segment. False: it does not fit into the budget. When no further one fits, an
  /// eviction is due.
  expected<bool> roll();
  /// Begins the next segment, whatever the budget.
  expected<void> begin_next();
  /// A number that no segment ever had.
  expected<std::uint64_t> take_number();

  /// The file of this segment; null: this process does not append to it.
  std::shared_ptr<file> file_of(std::uint64_t segment) const {
    return segment == segment_ ? file_ : nullptr;
  }
  /// Forgets the file that is open: the head was made anew.
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
  std::uint64_t segment_ = 0;   // of file_
  std::uint64_t allocated_ = 0; // bytes of it that have blocks
};

} // namespace hearth::storage::disk
