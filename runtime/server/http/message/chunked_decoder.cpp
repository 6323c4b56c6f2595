#include "runtime/server/http/message/chunked_decoder.hpp"

#include "messages/hex.hpp"

#include <algorithm>

namespace hearth::server {
namespace {

constexpr unsigned max_size_digits = 15;

auto malformed(const char* what) {
  return fail(errc::malformed, std::string("chunked body: ") + what);
}

} // namespace

expected<chunked_decoder::piece> chunked_decoder::decode(std::string_view bytes) {
  piece made;
  while (made.consumed < bytes.size() && now_ != state::complete) {
    if (now_ == state::data) {
      const auto rest = bytes.substr(made.consumed);
      made.data = rest.substr(0, std::min<std::uint64_t>(size_, rest.size()));
      made.consumed += made.data.size();
      size_ -= made.data.size();
      if (size_ == 0) now_ = state::data_cr;
      return made;
    }
    if (auto good = take(bytes[made.consumed]); !good) return fail(good.error());
    ++made.consumed;
  }
  return made;
}

expected<void> chunked_decoder::take(char c) {
  switch (now_) {
  case state::size: return take_size(c);
  case state::extension: return take_line(c, state::size_lf);
  case state::size_lf:
    if (c != '\n') return malformed("a line does not end with CRLF");
    return begin_data();
  case state::data_cr: return need(c, '\r', state::data_lf);
  case state::data_lf: return need(c, '\n', state::size);
  case state::trailer:
    if (c == '\r') return need(c, '\r', state::last_lf);
    now_ = state::trailer_line;
    return take_line(c, state::trailer_lf);
  case state::trailer_line: return take_line(c, state::trailer_lf);
  case state::trailer_lf: return need(c, '\n', state::trailer);
  case state::last_lf: return need(c, '\n', state::complete);
  default: return {};
  }
}

expected<void> chunked_decoder::take_size(char c) {
  if (const auto digit = hex_digit(c); digit >= 0) {
    if (++digits_ > max_size_digits) return malformed("a chunk's size has too many digits");
    size_ = size_ * 16 + static_cast<unsigned>(digit);
    return {};
  }
  if (digits_ == 0) return malformed("a chunk has no size");
  if (c == ';')
    now_ = state::extension;
  else if (c == '\r')
    now_ = state::size_lf;
  else
    return malformed("a chunk's size is not a number");
  return {};
}

// Inside an extension or a trailer, which are dropped.
expected<void> chunked_decoder::take_line(char c, state after) {
  if (c == '\r')
    now_ = after;
  else if (c == '\n' || c == '\0')
    return malformed("a line does not end with CRLF");
  else if (++line_bytes_ > max_line_bytes)
    return malformed("too many extensions or trailers");
  return {};
}

expected<void> chunked_decoder::need(char c, char wanted, state after) {
  if (c != wanted) return malformed("a chunk or line does not end with CRLF");
  now_ = after;
  return {};
}

expected<void> chunked_decoder::begin_data() {
  if (size_ > left_) return fail(errc::too_large, "the body is larger than a value may be");
  left_ -= size_;
  now_ = size_ > 0 ? state::data : state::trailer;
  digits_ = 0;
  return {};
}

} // namespace hearth::server
