// Writes values above a quarter of a segment, each into a segment of its own. Its bytes are written
// without the shard's lock, under a temporary name; with the lock held the segment gets its number,
// its headers and its slot. The file of a killed writer is not locked any more, so the next process
// that opens the shard removes it.
//
// Owner: a shard. One thread at a time.
#pragma once

#include "messages/error.hpp"
#include "storage/disk/evict/eviction.hpp"
#include "storage/disk/write/prepared_write.hpp"

#include <cstdint>
#include <string>

namespace hearth::storage::disk {

class large_writer {
public:
  large_writer(shard_files& files, const disk_budget& space, index_writer& index,
               index_growth& growth, active_segment& active, unfinished_segments& unfinished,
               write_access& access, eviction& evicts) noexcept
      : files_(files)
      , space_(space)
      , index_(index)
      , growth_(growth)
      , active_(active)
      , unfinished_(unfinished)
      , access_(access)
      , eviction_(evicts) {}

  /// Applies one insert, put or swap, and fills in its `status` and `why`.
  void apply(write_request& request, prepared_write& ready);

private:
  expected<void> write_and_publish(write_request& request, prepared_write& ready);
  expected<bool> is_to_be_written(write_request& request, const prepared_write& ready);
  expected<void> check_size(const prepared_write& ready);
  expected<file> reserve(const std::string& name, std::uint64_t bytes);
  expected<file> make_file(const std::string& name, std::uint64_t bytes);
  expected<void> write(const file& to, const write_request& request, const prepared_write& ready);
  expected<void> publish(write_request& request, prepared_write& ready, file& written,
                         const std::string& name);
  expected<void> write_headers(const file& to, record_header& header, location at);
  int rename_and_publish(const std::string& name, const planned_record& record, location at);

  shard_files& files_;
  const disk_budget& space_;
  index_writer& index_;
  index_growth& growth_;
  active_segment& active_;
  unfinished_segments& unfinished_;
  write_access& access_;
  eviction& eviction_;
};

} // namespace hearth::storage::disk
