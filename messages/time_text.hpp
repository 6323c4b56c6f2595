// Times in text: `250ms`, `90s`, `5min`, `2h`, `7d`. Pure functions, any thread.
#pragma once

#include <chrono>
#include <optional>
#include <string_view>

namespace hearth {

/// A whole number and a unit, one of `ns us ms s min m h d`, up to 1,000 days (`m` is a minute).
/// Empty for anything else, such as a number without a unit.
std::optional<std::chrono::nanoseconds> parse_time(std::string_view text) noexcept;

/// As above, in whole milliseconds, at least one.
std::optional<std::chrono::milliseconds> parse_milliseconds(std::string_view text) noexcept;

} // namespace hearth
