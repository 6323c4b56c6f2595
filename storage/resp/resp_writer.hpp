// Writes RESP: commands as bytes to send. It moves large arguments instead of copying them, and
// returns them as pieces of their own, for one gathering write. Owned by one thread.
#pragma once

#include <cstddef>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hearth::storage {

/// Appends a command as RESP's array of bulk strings.
void append_command(std::string& out, std::span<const std::string> arguments);

/// Commands that wait to be sent, in order.
class resp_writer {
public:
  /// Arguments of at least this many bytes are pieces of their own.
  static constexpr std::size_t own_piece_bytes = 8u << 10;

  void add(std::vector<std::string> arguments);

  bool is_empty() const noexcept { return bytes_ == 0; }
  /// Total bytes of all pieces.
  std::size_t size() const noexcept { return bytes_; }
  /// All pieces, in order; valid until the next append or clear.
  std::vector<std::string_view> pieces() const {
    if (is_empty()) return {};
    return {pieces_.begin(), pieces_.end()};
  }
  void clear();

private:
  void add_small(std::span<const std::string> arguments);
  void add_large(std::vector<std::string> arguments);
  std::string& open_piece(std::size_t bytes);
  void append(std::string_view text);
  void append_own(std::string text);

  std::deque<std::string> pieces_;
  bool open_ = false; // the last piece may be appended to
  std::size_t bytes_ = 0;
};

} // namespace hearth::storage
