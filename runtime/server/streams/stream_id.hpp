// The number of an entry in a stream, as Redis has it: a time in ms, and a count within it. Plain
// value, any thread.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hearth::server {

struct stream_id {
  std::uint64_t time = 0;
  std::uint64_t number = 0;

  friend auto operator<=>(const stream_id&, const stream_id&) = default;
};
inline constexpr stream_id last_stream_id{~std::uint64_t{0}, ~std::uint64_t{0}};

/// "1700000000000-0".
std::string to_string(const stream_id& id);
/// The id in a client's word: `TIME-NUMBER`, or `TIME`, which stands for that time's `number`.
std::optional<stream_id> parse_stream_id(std::string_view word, std::uint64_t number) noexcept;

/// The next id, and the one before. Empty: there is none.
std::optional<stream_id> next_of(const stream_id& id) noexcept;
std::optional<stream_id> previous_of(const stream_id& id) noexcept;

/// The ends of a range, both included.
struct stream_range {
  stream_id first;
  stream_id last = last_stream_id;
};
/// The start or end that a word of XRANGE gives: `-`, `+`, an id, or an id that is excluded (`(`).
std::optional<stream_id> parse_range_start(std::string_view word) noexcept;
std::optional<stream_id> parse_range_end(std::string_view word) noexcept;

} // namespace hearth::server
