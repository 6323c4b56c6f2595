// What words of commands mean: numbers, ranges, expiries, patterns. Pure functions, any thread.
#pragma once

#include "runtime/server/entries/entry_space.hpp"

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

namespace hearth::server {

/// A decimal number of 64 bits as Redis takes it: nothing else is around it, no zero in front of
/// it.
std::optional<std::int64_t> parse_integer(std::string_view word) noexcept;

/// The start and length of the bytes from `first` to `last`, both included; negative positions
/// count from the end. As Redis's GETRANGE.
std::pair<std::size_t, std::size_t> bytes_between(std::size_t size, std::int64_t first,
                                                  std::int64_t last) noexcept;

/// How an expiry is given.
enum class expiry_unit : std::uint8_t {
  seconds,
  milliseconds,
  unix_seconds,
  unix_milliseconds,
};
/// The time in ms of Unix time. Empty for a number that is none or overflows.
std::optional<expiry_ms> parse_expiry(std::string_view word, expiry_unit unit,
                                      expiry_ms now) noexcept;

/// Whether `text` is of this form: `*`, `?`, `[a-c]`, `[^a]`, and `\` before a character that means
/// itself. As in Redis, the `]` of `[a-]` is the range's end. Takes at most the product of both
/// lengths in steps.
bool matches_pattern(std::string_view text, std::string_view pattern) noexcept;

} // namespace hearth::server
