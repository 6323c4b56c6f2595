#include "storage/bundle/bundle_reader.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace hearth::storage {

tl::unexpected<error> bundle_reader::bad_record(std::string_view what) const {
  return fail(errc::malformed, "the bundle is damaged in record " + std::to_string(records_ + 1) +
                                   ": " + std::string(what));
}

// Whether any content is left. Fetches the next block when needed.
expected<bool> bundle_reader::has_content() {
  if (!content_.empty()) return true;
  if (is_at_end_) return false;
  const auto block = blocks_.next();
  if (!block) return fail(block.error());
  content_ = *block;
  is_at_end_ = content_.empty();
  return !is_at_end_;
}

expected<void> bundle_reader::take(std::uint64_t bytes, const taker& to) {
  while (bytes > 0) {
    const auto more = has_content();
    if (!more) return fail(more.error());
    if (!*more) return bad_record("it goes beyond the end");
    const auto part = content_.substr(0, std::min<std::uint64_t>(bytes, content_.size()));
    to(part);
    content_.remove_prefix(part.size());
    bytes -= part.size();
  }
  return {};
}

expected<std::optional<record_head>> bundle_reader::next() {
  if (auto skipped = take(std::exchange(payload_left_, 0), [](std::string_view) {}); !skipped)
    return fail(skipped.error());
  const auto more = has_content();
  if (!more) return fail(more.error());
  if (!*more) {
    if (blocks_.end().records != records_) return bad_record("there are not as many as it says");
    return std::nullopt;
  }
  std::string bytes; // grows with the bytes read, whatever length was stated
  const auto append = [&](std::string_view part) { bytes += part; };
  if (auto length = take(sizeof(std::uint32_t), append); !length) return fail(length.error());
  const auto size = take_number<std::uint32_t>(bytes.data());
  if (size > max_record_head_bytes) return bad_record("its head is too long");
  bytes.clear();
  if (auto taken = take(size, append); !taken) return fail(taken.error());
  auto head = decode_head(bytes);
  if (!head) return bad_record(head.error().text());
  ++records_;
  payload_left_ = head->payload_bytes;
  return std::optional(std::move(*head));
}

expected<void> bundle_reader::read_payload(char* to) {
  return take(std::exchange(payload_left_, 0), [&to](std::string_view part) {
    std::memcpy(to, part.data(), part.size());
    to += part.size();
  });
}

} // namespace hearth::storage
