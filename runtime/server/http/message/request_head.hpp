// The head of an HTTP/1.1 request: request line and headers. Pure functions, any thread.
//
// What two programs could read in two ways (a proxy in front of this server and the server itself)
// is malformed: request smuggling lives on it.
#pragma once

#include "messages/error.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hearth::server {

/// The value of the `Expect` header.
enum class expectation : std::uint8_t { none, to_continue, unknown };

struct request_head {
  std::string method; ///< as sent: methods are in capitals
  std::string target; ///< begins with `/`
  bool is_http_11 = true;
  bool keeps_alive = true;
  std::optional<std::uint64_t> content_length;
  bool is_chunked = false;
  expectation expects = expectation::none;
  bool has_if_range = false;
  bool has_content_range = false;
  /// Header values; empty: missing.
  std::string authorization, content_encoding, range, depth;
  std::string artifact_tag, artifact_duration; ///< Turbo's `x-artifact-...`

  bool has_body() const noexcept { return is_chunked || content_length.value_or(0) > 0; }
  bool reads() const noexcept { return method == "GET" || method == "HEAD"; }
  bool writes() const noexcept {
    return method == "PUT" || method == "DELETE" || method == "MKCOL";
  }
};

/// Finds the end of a head that comes in pieces, looking at each byte once.
class head_scanner {
public:
  /// Takes all bytes since the head's first. Returns the size of the head with its empty line;
  /// empty: it has not ended yet. Errors: `malformed` for a line that ends with a bare LF.
  expected<std::optional<std::size_t>> find_end(std::string_view bytes);
  /// Whether the request line has ended.
  bool has_line() const noexcept { return has_line_; }

private:
  std::size_t scanned_ = 0;
  bool has_line_ = false;
};

/// Parses a head that `head_scanner` found the end of. Errors: `malformed` for what RFC 9112 does
/// not allow, and for both Content-Length and Transfer-Encoding, two of one header that frames or
/// authorizes, a folded line, a bare CR, a space before the colon, a transfer coding other than
/// `chunked`, a missing Host, a target that does not begin with `/`.
expected<request_head> parse_head(std::string_view head);

} // namespace hearth::server
