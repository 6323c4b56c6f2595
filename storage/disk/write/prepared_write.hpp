// A write request that is prepared outside the lock, and its possible results.
//
// Plain values and free functions; any thread.
#pragma once

#include "messages/error.hpp"
#include "storage/disk/files/counters.hpp"
#include "storage/disk/files/shard_config.hpp"
#include "storage/disk/format.hpp"
#include "storage/disk/store.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace hearth::storage::disk {

/// A record without its sequence and its seal, which depend on its place.
struct prepared_write {
  record_header header;
  std::string_view payload; ///< the payload as it will be stored
  std::string compressed;   ///< the payload, if it was compressed
};

/// Why the request is invalid; an error without text when it is valid.
error flaw_of(const write_request& request, const shard_config& config);
/// Fills in the header's lengths and sums, and compresses the payload if it should be.
void prepare(const write_request& request, const shard_config& config, prepared_write& out);

/// Marks the request as failed.
void refuse(write_request& request, const error& why, counters& counts);
/// Marks the request as written.
inline void confirm(write_request& request, counters& counts) {
  const auto kind = request.kind;
  request.status = kind == write_kind::insert ? write_status::inserted
                   : erases(kind)             ? write_status::erased
                                              : write_status::stored;
  counts.add(kind == write_kind::insert   ? counter::inserted
             : kind == write_kind::erase  ? counter::erased
             : kind == write_kind::expire ? counter::evicted
                                          : counter::put);
}
/// Whether the request is decided by the key's current entry, `old`, without a write: then answers
/// it. `is_live`: whether there is an entry.
bool is_answered(write_request& request, const record_header& old, bool is_live, counters& counts);

} // namespace hearth::storage::disk
