// Takes a chunked body apart, as RFC 9112, 7.1 has it. Trailers are read and dropped. A plain state
// machine: it keeps no bytes, and what it is given may end anywhere.
//
// Boost.Beast's own ends the process by an assertion when an empty body comes byte by byte (1.74).
#pragma once

#include "messages/error.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace hearth::server {

class chunked_decoder {
public:
  /// Longest chunk extension, and longest trailers together.
  static constexpr std::size_t max_line_bytes = 4096;

  /// `max_bytes` bounds the decoded body.
  explicit chunked_decoder(std::uint64_t max_bytes)
      : left_(max_bytes) {}

  struct piece {
    std::size_t consumed = 0; ///< bytes that are used; 0 only for no bytes, or when complete
    std::string_view data;    ///< content among them, perhaps none
  };
  /// Decodes the first bytes: up to the end of one piece of content. Errors: `malformed` (anything
  /// but CRLF at the end of a line, a size that is no number or above 15 digits, lines that are too
  /// long), `too_large`.
  expected<piece> decode(std::string_view bytes);
  /// Whether the body has ended.
  bool is_complete() const noexcept { return now_ == state::complete; }

private:
  enum class state : std::uint8_t {
    size,         // the digits of a chunk's size
    extension,    // after a `;`
    size_lf,      // the LF of that line
    data,         // content
    data_cr,      // CR and LF behind it
    data_lf,      //
    trailer,      // at the begin of a line of trailers
    trailer_line, // inside
    trailer_lf,   //
    last_lf,      // the LF of the empty line
    complete,
  };
  expected<void> take(char c);
  expected<void> take_size(char c);
  expected<void> take_line(char c, state after);
  expected<void> need(char c, char wanted, state after);
  expected<void> begin_data();

  state now_ = state::size;
  std::uint64_t left_; // of the bound
  std::uint64_t size_ = 0;
  unsigned digits_ = 0;
  std::size_t line_bytes_ = 0;
};

} // namespace hearth::server
