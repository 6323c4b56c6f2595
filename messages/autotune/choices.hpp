// What measuring a kernel's choices showed: kept together, since times are compared with each other
// alone. Plain values; pure functions, any thread.
#pragma once

#include "messages/error.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace hearth {

/// The outcome of one choice: a time, or why it has none.
struct choice_time {
  std::int64_t time_ns = 0;
  std::string problem; ///< empty: it was measured

  friend bool operator==(const choice_time&, const choice_time&) = default;
};

/// By the choices' hashes.
using choice_times = std::map<std::string, choice_time, std::less<>>;

/// Whether every one of these is known.
bool knows_all(const choice_times& known, const std::vector<std::string>& choices);
/// Those of `choices` that are known.
choice_times known_of(const choice_times& known, const std::vector<std::string>& choices);

/// Canonical msgpack: a map of choice -> nanoseconds, or text that says why there are none.
std::string encode_times(const choice_times& times);
/// Errors: `malformed`.
expected<choice_times> decode_times(std::string_view bytes);

} // namespace hearth
