// A write request made ready outside the lock, and the answers that it can get.
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

/// A record but for its sequence and its seal, which depend on where it will be.
struct prepared_write {
  record_header header;
  std::string_view payload; ///< as it will be stored
  std::string compressed;   ///< the payload, if it was compressed
};

/// Why the request can never be right; an error without text: it is right.
error flaw_of(const write_request& request, const shard_config& config);
/// Fills in the header's lengths and sums, and compresses the payload if it should be.
void prepare(const write_request& request, const shard_config& config, prepared_write& out);

/// The request failed.
void refuse(write_request& request, const error& why, counters& counts);
/// The request is written.
inline void confirm(write_request& request, counters& counts) {
  const auto kind = request.kind;
  request.status = kind == write_kind::insert ? write_status::inserted
                   : kind == write_kind::put  ? write_status::stored
                                              : write_status::erased;
  counts.add(kind == write_kind::insert ? counter::inserted
             : kind == write_kind::put  ? counter::put
                                        : counter::erased);
}
/// An insert whose key has an entry.
inline void answer_exists(write_request& request, counters& counts) {
  request.status = write_status::exists;
  counts.add(counter::existed);
}

} // namespace hearth::storage::disk
