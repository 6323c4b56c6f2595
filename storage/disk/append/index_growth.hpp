// Makes room when both buckets of a key are full: the index grows, or one entry is dropped.
//
// Owner: a shard. Only the holder of the shard's lock uses it.
#pragma once

#include "messages/error.hpp"
#include "storage/disk/append/index_writer.hpp"
#include "storage/disk/files/disk_budget.hpp"
#include "storage/disk/segment/written_records.hpp"

#include <cstdint>

namespace hearth::storage::disk {

class index_growth {
public:
  /// `written`: the records that this process appended, which need not be read again.
  index_growth(shard_files& files, const disk_budget& space, index_writer& index,
               const written_records& written) noexcept
      : files_(files)
      , space_(space)
      , index_(index)
      , written_(written) {}

  /// Makes a slot for this hash. False: a larger index does not fit into the budget.
  expected<bool> make_slot(std::uint64_t hash);
  /// Returns a free slot for this hash, and makes one if needed, without regard to the budget.
  /// Null: no slot could be made.
  expected<slot*> claim_or_make(std::uint64_t hash);
  /// Makes a smaller index after a large eviction. It only saves disk space: an error is ignored.
  void shrink();

private:
  bool is_flooded() const noexcept;
  bool has_room_to_grow() const noexcept;
  std::uint64_t live_slots(const index_table& index) const noexcept;
  expected<void> grow();
  expected<void> grow_or_drop(std::uint64_t hash, bool flooded);
  void drop_oldest_of(std::uint64_t hash);
  expected<void> resize(std::uint64_t buckets);
  int move_slots(const index_table& from, const index_table& to, std::uint64_t segment,
                 std::uint64_t& live) const;

  shard_files& files_;
  const disk_budget& space_;
  index_writer& index_;
  const written_records& written_;
};

} // namespace hearth::storage::disk
