#include "runtime/server/connection/output_queue.hpp"

namespace hearth::server {

void output_queue::append(std::string_view bytes) {
  if (bytes.empty()) return;
  if (pieces_.empty() || pieces_.back().value) pieces_.emplace_back();
  pieces_.back().text += bytes;
  bytes_ += bytes.size();
}

void output_queue::append_payload(const artifact& value, std::size_t offset, std::size_t count) {
  const auto bytes = value.payload().substr(offset, count);
  if (bytes.size() < own_piece_bytes) return append(bytes);
  pieces_.push_back({{}, value, bytes});
  if (kept_total_) *kept_total_ += bytes.size();
  bytes_ += bytes.size();
}

std::vector<std::string_view> output_queue::pieces() const {
  std::vector<std::string_view> all;
  all.reserve(pieces_.size());
  for (const auto& one : pieces_)
    all.push_back(one.value ? one.kept : std::string_view(one.text));
  return all;
}

void output_queue::drop_kept(const piece& one) noexcept {
  if (kept_total_) *kept_total_ -= one.kept.size();
}

void output_queue::clear() {
  // The buffer of one text is kept: most replies are small.
  while (pieces_.size() > 1 || (!pieces_.empty() && pieces_.front().value)) {
    drop_kept(pieces_.back());
    pieces_.pop_back();
  }
  if (!pieces_.empty()) pieces_.front().text.clear();
  bytes_ = 0;
}

} // namespace hearth::server
