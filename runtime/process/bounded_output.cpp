#include "runtime/process/bounded_output.hpp"

#include <algorithm>

namespace hearth::process {
namespace {

constexpr std::size_t note_bytes = 64;

std::string note(std::size_t left_out) {
  return "\n[... " + std::to_string(left_out) + " bytes left out ...]\n";
}

} // namespace

// Output that fits exactly is kept whole: the space for the note is taken from the tail only when
// needed.
bounded_output::bounded_output(std::size_t limit)
    : head_limit_(limit / 2)
    , tail_limit_(limit - head_limit_) {}

void bounded_output::append(std::string_view bytes) {
  const auto to_head = std::min(bytes.size(), head_limit_ - head_.size());
  head_.append(bytes.substr(0, to_head));
  bytes.remove_prefix(to_head);
  if (bytes.size() > tail_limit_) {
    left_out_ += bytes.size() - tail_limit_;
    bytes.remove_prefix(bytes.size() - tail_limit_);
  }
  const auto to_grow = std::min(bytes.size(), tail_limit_ - ring_.size());
  ring_.append(bytes.substr(0, to_grow));
  bytes.remove_prefix(to_grow);
  left_out_ += bytes.size();
  while (!bytes.empty()) {
    const auto n = std::min(bytes.size(), tail_limit_ - oldest_);
    ring_.replace(oldest_, n, bytes.substr(0, n));
    oldest_ = (oldest_ + n) % tail_limit_;
    bytes.remove_prefix(n);
  }
}

std::string bounded_output::tail() const {
  return ring_.substr(oldest_) + ring_.substr(0, oldest_);
}

std::string bounded_output::text() const {
  if (left_out_ == 0) return head_ + tail();
  if (tail_limit_ <= note_bytes) return head_;
  return head_ + note(left_out_ + note_bytes) + tail().substr(note_bytes);
}

} // namespace hearth::process
