// Writes a bundle: records in, blocks out, as a stream.
//
// One thread at a time.
#pragma once

#include "messages/error.hpp"
#include "storage/bundle/block_writer.hpp"
#include "storage/bundle/record_head.hpp"

#include <cstdint>
#include <string_view>
#include <utility>

namespace hearth::storage {

class bundle_writer {
public:
  /// The bundle is signed with the first of `keys`; without keys it is not signed.
  explicit bundle_writer(byte_sink to, signing_keys keys = {})
      : blocks_(std::move(to))
      , keys_(std::move(keys)) {}

  /// Adds a record. `head.payload_bytes` is set here. Errors: the sink's; `invalid_argument` for a
  /// head that no reader would accept.
  expected<void> add(record_head head, std::string_view payload);
  /// Ends the bundle. The caller calls it once, last.
  expected<bundle_end> finish() { return blocks_.finish(records_, keys_); }

private:
  block_writer blocks_;
  signing_keys keys_;
  std::uint64_t records_ = 0;
};

} // namespace hearth::storage
