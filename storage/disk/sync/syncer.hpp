// Makes acknowledged writes survive a power loss, and records up to where they do. It syncs outside
// the shard's lock; the words `synced` and `synced_files` of the head move only after all of it
// succeeded.
//
// Owner: a shard. Any thread; several may sync at once.
#pragma once

#include "messages/error.hpp"
#include "storage/disk/append/unfinished_segments.hpp"
#include "storage/disk/repair/write_access.hpp"

#include <atomic>
#include <cstdint>

namespace hearth::storage::disk {

class syncer {
public:
  syncer(shard_files& files, active_segment& active, unfinished_segments& unfinished,
         write_access& access) noexcept
      : files_(files)
      , active_(active)
      , unfinished_(unfinished)
      , access_(access) {}

  /// Whether the records before this place survive a power loss.
  bool is_synced(location where) const noexcept;
  /// Syncs all writes acknowledged before, by any process.
  expected<void> sync_all();
  /// Syncs head and index, for the clean mark.
  bool sync_index();
  /// Writes the tables of segments that are complete and synced.
  expected<void> write_tables();
  /// The segment that could not be synced, until it is evicted; 0: there is none. The caller holds
  /// the lock.
  std::uint64_t failed_segment() noexcept;

private:
  struct job;
  job begin() const;
  expected<void> run(job& work) const;
  int sync_segment(std::uint64_t segment, const job& work) const;
  void end(const job& work);
  void note_failure(std::uint64_t segment) noexcept;

  shard_files& files_;
  active_segment& active_;
  unfinished_segments& unfinished_;
  write_access& access_;
  std::atomic<std::uint64_t> failed_here_{0}; // such a segment; 0 once the head has it
};

} // namespace hearth::storage::disk
