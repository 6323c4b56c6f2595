// The protocol between ccache and its storage helper (`crsh:`, ccache 4.13 and later), taken apart
// and put together. Pure functions and a state machine without a socket; any thread.
//
//   greeting  01 03 00 01 02   version 1; three capabilities: get/put/remove (00), info (01),
//                              exists (02)
//   requests  00 KEY                    get
//             01 KEY FLAGS VALUE        put; bit 0 of the flags: replace an entry
//             02 KEY                    remove
//             03                        stop
//             04                        info
//             05 KEY                    exists
//   replies   00 [VALUE]                ok; a value follows for get
//             01                        no: not there, or not stored
//             02 MESSAGE                an error
//   to info   MESSAGE COUNT MESSAGE...  who answers, and lines for the client's log
//
// KEY and MESSAGE are a byte of length and the bytes; VALUE is a length of 64 bits and the bytes.
// Numbers are in the host's byte order: both ends are on one host.
#pragma once

#include "messages/error.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hearth::server {

inline constexpr std::string_view crsh_greeting{"\x01\x03\x00\x01\x02", 5};

enum class crsh_verb : std::uint8_t {
  get = 0,
  put = 1,
  remove = 2,
  stop = 3,
  info = 4,
  exists = 5
};

/// A request, without the value of a put, which follows it.
struct crsh_request {
  crsh_verb verb = crsh_verb::get;
  std::string key;
  bool replaces = false;         ///< put: an entry that is there
  std::uint64_t value_bytes = 0; ///< put: of the value that follows
};

struct crsh_parsed {
  crsh_request request;
  std::size_t consumed = 0; ///< its bytes, without the value
};

/// The request that the bytes begin with; empty: more bytes are needed (a request without its value
/// has 266 at most). Errors: `malformed` for a verb that is none.
expected<std::optional<crsh_parsed>> parse_crsh(std::string_view bytes);

/// `ok` without a value, `no`.
inline constexpr std::string_view crsh_ok{"\x00", 1};
inline constexpr std::string_view crsh_no{"\x01", 1};
/// `ok` and the length of a value, which is to follow.
std::string crsh_ok_with_value(std::uint64_t bytes);
/// An error; its text is cut at 255 bytes.
std::string crsh_error(std::string_view text);
/// The answer to info, without lines for the log.
std::string crsh_info(std::string_view name);

} // namespace hearth::server
