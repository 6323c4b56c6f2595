// Rebuilds a shard's index from its segments, when the head or the index cannot be trusted.
//
// Owner: a shard. Only the holder of the shard's lock uses it; for a read-only shard, the thread
// that opens it.
#pragma once

#include "messages/error.hpp"
#include "storage/disk/append/active_segment.hpp"
#include "storage/disk/files/disk_budget.hpp"
#include "storage/disk/segment/segment_scan.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace hearth::storage::disk {

class index_rebuild {
public:
  index_rebuild(shard_files& files, const disk_budget& space, active_segment& active) noexcept
      : files_(files)
      , space_(space)
      , active_(active) {}

  /// Rebuilds head and index. The next process that takes the lock restarts a rebuild that was
  /// killed: the head's word `boot` is stored last.
  expected<void> run();
  /// Makes an index in memory and changes no file.
  expected<void> run_in_memory();

private:
  struct survivor;
  struct head_values;
  expected<std::vector<survivor>> collect(const std::vector<std::uint64_t>& segments,
                                          bool trust_head, std::vector<location>& torn) const;
  int collect_scanned(segment_scan& scan, location synced, std::vector<survivor>& all,
                      std::vector<location>& torn) const;
  bool is_wholly_synced(std::uint64_t segment, const segment_scan& scan) const;
  void keep_newest(std::vector<survivor>& all);
  bool same_key(location a, location b);
  std::optional<std::string> identity_at(location where);
  head_values values_after(const std::vector<survivor>& all,
                           const std::vector<std::uint64_t>& segments, bool trust_head) const;
  void store(const head_values& values) noexcept;
  expected<void> make_index(const std::vector<survivor>& all, std::uint64_t generation);

  shard_files& files_;
  const disk_budget& space_;
  active_segment& active_;
};

/// Overwrites the start of records with a right header and damaged bytes: once their segment is
/// synced, every right header in it counts as a record. `durably`: syncs the writes.
expected<void> erase_headers(const shard_files& files, const std::vector<location>& torn,
                             bool durably);

} // namespace hearth::storage::disk
