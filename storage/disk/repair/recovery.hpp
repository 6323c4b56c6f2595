// Repairs a shard before it is written to. When a killed writer left an unfinished group, it
// publishes the group's intact records. After a power loss, or damage to the head or the index, it
// rebuilds the index from the segments.
//
// Both follow one rule: the valid records determine the index. For each key the record with the
// highest sequence counts; when it is a tombstone, there is no entry.
//
// Owner: a shard. Only the holder of the shard's lock uses it.
#pragma once

#include "messages/error.hpp"
#include "storage/disk/append/active_segment.hpp"
#include "storage/disk/append/index_growth.hpp"
#include "storage/disk/repair/index_rebuild.hpp"
#include "storage/disk/segment/segment_scan.hpp"

#include <string>

namespace hearth::storage::disk {

class recovery {
public:
  recovery(shard_files& files, index_writer& index, index_growth& growth, active_segment& active,
           index_rebuild& rebuild) noexcept
      : files_(files)
      , index_(index)
      , growth_(growth)
      , active_(active)
      , rebuild_(rebuild) {}

  /// Called each time after the lock was taken. Does nothing when the shard needs no repair.
  expected<void> put_in_order();
  /// Applies one record of a segment by the rule. `identity`: its name, version and key.
  expected<void> apply_record(const record_header& header, const std::string& identity,
                              location where);

private:
  struct torn_group;
  expected<void> finish_pending();
  expected<torn_group> apply_pending(segment_scan& scan);
  expected<void> bury(const torn_group& torn, location start);
  void sum_index() noexcept;

  shard_files& files_;
  index_writer& index_;
  index_growth& growth_;
  active_segment& active_;
  index_rebuild& rebuild_;
};

} // namespace hearth::storage::disk
