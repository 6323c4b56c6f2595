// The bytes that a connection has received and its session has not used yet. Owned by one session.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

namespace hearth::server {

class input_buffer {
public:
  static constexpr std::size_t min_room = 4u << 10;
  static constexpr std::size_t max_room = 64u << 10;

  /// Where the next bytes go: 4 to 64 KiB, more as more comes at once.
  std::span<char> room() {
    const auto kept = view().size();
    if (begin_ > 0) std::memmove(bytes_.data(), bytes_.data() + begin_, kept);
    begin_ = 0;
    end_ = kept;
    if (bytes_.size() != kept + room_) bytes_.resize(kept + room_);
    return {bytes_.data() + end_, room_};
  }
  /// The first `count` bytes of the room were filled.
  void commit(std::size_t count) {
    end_ += count;
    room_ = count == room_ ? std::min(2 * room_, max_room) : room_;
  }
  std::string_view view() const noexcept { return {bytes_.data() + begin_, end_ - begin_}; }
  bool is_empty() const noexcept { return begin_ == end_; }
  /// The first `count` bytes of the view are used.
  void consume(std::size_t count) noexcept { begin_ += count; }
  void clear() noexcept { begin_ = end_; }
  /// Gives memory back, if nothing is kept: a connection between two requests takes little.
  void shrink() {
    if (!is_empty() || bytes_.size() <= 2 * min_room) return;
    begin_ = end_ = 0;
    room_ = min_room;
    bytes_ = {};
  }

private:
  std::string bytes_;
  std::size_t begin_ = 0, end_ = 0;
  std::size_t room_ = min_room;
};

} // namespace hearth::server
