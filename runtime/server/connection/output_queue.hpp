// The bytes that a connection still has to send: small texts copied together, large values by
// reference. Owned by one connection, used on its thread.
#pragma once

#include "messages/artifact.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hearth::server {

class output_queue {
public:
  /// A payload of at least this many bytes is sent from where it lies.
  static constexpr std::size_t own_piece_bytes = 16u << 10;

  output_queue() = default;
  /// `sent_from_place` counts the bytes of payloads that all queues keep; it outlives this object.
  explicit output_queue(std::atomic<std::uint64_t>& sent_from_place)
      : kept_total_(&sent_from_place) {}
  output_queue(const output_queue&) = delete;
  output_queue& operator=(const output_queue&) = delete;
  ~output_queue() { clear(); }
  /// Exchanges what both have to send; they count in the same place.
  friend void swap(output_queue& a, output_queue& b) noexcept {
    std::swap(a.pieces_, b.pieces_);
    std::swap(a.bytes_, b.bytes_);
  }

  /// Copies the bytes.
  void append(std::string_view bytes);
  /// Appends a range of the payload. A large one is kept alive until it is sent.
  void append_payload(const artifact& value, std::size_t offset, std::size_t count);
  void append_payload(const artifact& value) { append_payload(value, 0, value.payload().size()); }

  bool is_empty() const noexcept { return bytes_ == 0; }
  /// Bytes to send, those of kept payloads included.
  std::size_t size() const noexcept { return bytes_; }
  /// All pieces in order; valid until the next change.
  std::vector<std::string_view> pieces() const;
  void clear();

private:
  struct piece {
    std::string text;
    artifact value{};
    std::string_view kept{}; // of `value`
  };
  void drop_kept(const piece& one) noexcept;

  std::atomic<std::uint64_t>* kept_total_ = nullptr; // null: not counted
  std::deque<piece> pieces_;
  std::size_t bytes_ = 0;
};

} // namespace hearth::server
