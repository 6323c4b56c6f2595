// Applies groups of writes: plans their records into batches, appends each batch with one write,
// and answers the requests. Large values go to large_writer, one by one.
//
// Owner: a shard. One thread at a time; it takes the shard's lock for a batch, and releases it to
// make room.
#pragma once

#include "storage/disk/evict/eviction.hpp"
#include "storage/disk/write/large_writer.hpp"
#include "storage/disk/write/prepared_write.hpp"

#include <cstdint>
#include <span>

namespace hearth::storage::disk {

class group_writer {
public:
  group_writer(shard_files& files, const disk_budget& space, index_writer& index,
               index_growth& growth, active_segment& active, write_access& access, eviction& evicts,
               large_writer& large) noexcept
      : files_(files)
      , space_(space)
      , index_(index)
      , growth_(growth)
      , active_(active)
      , access_(access)
      , eviction_(evicts)
      , large_(large) {}

  /// Applies a group in order and fills in each `status` and `why`. Returns how often it moved the
  /// epoch.
  std::uint64_t apply(std::span<write_request> group);

private:
  /// The result of planning a request into a batch.
  enum class plan_result { decided, batch_full, segment_full, index_full };

  void apply_small(std::span<write_request> group, std::span<prepared_write> ready);
  bool is_large(const prepared_write& ready) const noexcept;
  void touch_index(std::span<const write_request> group) const noexcept;
  void touch_records(const index_table& index, std::uint64_t hash) const noexcept;
  std::size_t append_all(std::span<write_request> group, std::span<prepared_write> ready);
  plan_result plan_from(append_batch& work, std::span<write_request> group,
                        std::span<prepared_write> ready, std::size_t& number);
  plan_result plan(append_batch& work, write_request& request, prepared_write& ready,
                   std::size_t number);
  plan_result plan_append(append_batch& work, const write_request& request, prepared_write& ready,
                          std::size_t number, const found_entry& old);
  void commit(append_batch& work, std::span<write_request> group);

  shard_files& files_;
  const disk_budget& space_;
  index_writer& index_;
  index_growth& growth_;
  active_segment& active_;
  write_access& access_;
  eviction& eviction_;
  large_writer& large_;
};

} // namespace hearth::storage::disk
