// Makes what was acknowledged survive a power loss, and says how far that is so. The system's work
// is done outside the shard's lock; the words `synced` and `synced_files` of the head move only
// after all of it succeeded.
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

  /// Whether what lies before this place survives a power loss.
  bool is_synced(location where) const noexcept;
  /// Syncs everything that was acknowledged before, by any process.
  expected<void> sync_all();
  /// Syncs head and index too, for the clean mark.
  bool sync_index();
  /// Writes the tables of segments that were left and are synced.
  expected<void> write_tables();
  /// With the lock held: the segment that could not be synced, until it is evicted; 0: there is
  /// none.
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
  std::atomic<std::uint64_t> failed_here_{0}; // segment; until the head says so too
};

} // namespace hearth::storage::disk
