// The measured times of a kernel's choices. They are kept together, since only times measured
// together can be compared. Plain values; pure functions, any thread.
#pragma once

#include "messages/error.hpp"
#include "messages/visibility.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace HEARTH_PUBLIC hearth {

/// The outcome of one choice: a time, or the reason for having none.
struct choice_time {
  std::int64_t time_ns = 0;
  std::string problem; ///< empty: the choice was measured

  friend bool operator==(const choice_time&, const choice_time&) = default;
};

/// The outcomes by the choices' hashes.
using choice_times = std::map<std::string, choice_time, std::less<>>;

/// Whether the outcome of each of these choices is known.
bool knows_all(const choice_times& known, const std::vector<std::string>& choices);
/// The known outcomes of `choices`.
choice_times known_of(const choice_times& known, const std::vector<std::string>& choices);

/// Canonical msgpack: a map of choice -> nanoseconds, or the reason for having none as text.
std::string encode_times(const choice_times& times);
/// Errors: `malformed`.
expected<choice_times> decode_times(std::string_view bytes);

} // namespace hearth
