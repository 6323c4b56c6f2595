// Evicts the oldest segment; first appends its entries that were hit again.
//
// The lock is held for steps of bounded length only. The segment is scanned and its records are
// read without it, and appended a batch at a time; the slot of an entry that another writer
// replaced or erased meanwhile does not point at the old place any more.
//
// Owner: a shard. One thread of all processes evicts at a time (see eviction_right); two at once
// would do the same work twice.
#pragma once

#include "messages/error.hpp"
#include "storage/disk/sync/syncer.hpp"

#include <cstdint>
#include <vector>

namespace hearth::storage::disk {

/// Which entries of an evicted segment are appended again, and where eviction ends.
struct keep_rule {
  std::uint64_t keep_below = 0; ///< entries of segments below this number are kept; 0: none are
  /// Entries that were not hit are kept too while at most this many bytes of the shard are live.
  std::uint64_t keep_unhit_max_live_bytes = 0;
  /// Whether all entries of a segment may be kept; else at most half a segment of them, so that
  /// each eviction frees some space.
  bool keeps_whole_segments = false;
  /// On a full disk: true drops the entries that find no room, false gives the eviction up.
  bool drop_when_full = false;
  std::uint64_t stop_at = ~std::uint64_t{0}; ///< segments from this number on stay
};

class segment_eviction {
public:
  segment_eviction(shard_files& files, const disk_budget& space, index_writer& index,
                   active_segment& active, write_access& access, syncer& syncs) noexcept
      : files_(files)
      , space_(space)
      , index_(index)
      , active_(active)
      , access_(access)
      , syncer_(syncs) {}

  /// Evicts the lowest segment, if there is one: it is below `oldest` afterwards. segment_removal
  /// removes its file.
  expected<void> evict_oldest(const keep_rule& rule);

private:
  struct evicted_segment;
  struct copied_record;
  expected<std::uint64_t> choose();
  expected<evicted_segment> look_at(std::uint64_t segment, const keep_rule& rule);
  void choose_kept(evicted_segment& one, const keep_rule& rule) const;
  expected<void> keep(evicted_segment& one);
  expected<void> append_copies(evicted_segment& one, const std::vector<copied_record>& batch);
  void plan_copy(append_batch& work, const copied_record& record);
  expected<void> keep_large(evicted_segment& one);
  bool is_replaced_unsynced(std::uint64_t hash) noexcept;
  void sync_what_replaced(const evicted_segment& one);
  expected<void> retire(const evicted_segment& one, std::uint64_t epoch);

  shard_files& files_;
  const disk_budget& space_;
  index_writer& index_;
  active_segment& active_;
  write_access& access_;
  syncer& syncer_;
};

} // namespace hearth::storage::disk
