// A value of RESP2 or RESP3, the protocol of Redis and Valkey: a reply, or a part of one.
// Plain value, any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hearth::storage {

struct resp_value {
  enum class kind : std::uint8_t {
    null,       ///< `_`, and RESP2's `$-1` and `*-1`
    text,       ///< `+`
    error,      ///< `-` and `!`: "ERR unknown command"
    integer,    ///< `:`
    bytes,      ///< `$` and `=` (without its three letters and colon)
    real,       ///< `,`
    boolean,    ///< `#`, in `integer`
    big_number, ///< `(`, its digits in `text`
    array,      ///< `*`
    map,        ///< `%`: keys and values in turn
    set,        ///< `~`
    push,       ///< `>`: not a reply to a command
  };

  kind type = kind::null;
  std::string text; ///< for text, error, bytes and big_number
  std::int64_t integer = 0;
  double real = 0;
  std::vector<resp_value> items; ///< for array, map, set and push

  bool is_null() const noexcept { return type == kind::null; }
  bool is_error() const noexcept { return type == kind::error; }
};

} // namespace hearth::storage
