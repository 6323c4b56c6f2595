// Reads a bundle: blocks in, records out, as a stream. It returns the records before a damaged
// block before it finds the damage: a caller that must not use a part of a damaged bundle reads it
// twice, the second time with the marks of the first.
//
// One thread at a time. It holds two blocks and the head of a record.
#pragma once

#include "messages/error.hpp"
#include "storage/bundle/block_reader.hpp"
#include "storage/bundle/record_head.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace hearth::storage {

class bundle_reader {
public:
  explicit bundle_reader(byte_source from)
      : blocks_(std::move(from)) {}
  /// A second pass over a bundle with these marks.
  bundle_reader(byte_source from, block_marks marks)
      : blocks_(std::move(from), std::move(marks)) {}

  /// The head of the next record; skips the unread rest of the payload before it. Nothing at the
  /// end of an intact bundle. Errors: `malformed`, and those of `block_reader`.
  expected<std::optional<record_head>> next();
  /// Reads the payload of the record whose head was returned last. At most one call a record.
  expected<void> read_payload(char* to);

  /// The last block. Valid once `next` has returned the end.
  const bundle_end& end() const noexcept { return blocks_.end(); }
  const block_marks& marks() const noexcept { return blocks_.marks(); }

private:
  using taker = std::function<void(std::string_view)>;
  expected<bool> has_content();
  expected<void> take(std::uint64_t bytes, const taker& to);
  tl::unexpected<error> bad_record(std::string_view what) const;

  block_reader blocks_;
  std::string_view content_; // content of the block that is not consumed yet
  std::uint64_t payload_left_ = 0;
  std::uint64_t records_ = 0;
  bool is_at_end_ = false;
};

} // namespace hearth::storage
