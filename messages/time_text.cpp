#include "messages/time_text.hpp"

#include <array>
#include <charconv>
#include <cstdint>
#include <system_error>
#include <utility>

namespace hearth {
namespace {

constexpr std::int64_t ns_in_s = 1'000'000'000;
constexpr std::int64_t ns_in_day = 86'400 * ns_in_s;
constexpr std::int64_t longest_ns = 1'000 * ns_in_day;

constexpr std::array<std::pair<std::string_view, std::int64_t>, 8> time_units{
    {{"ns", 1},
     {"us", 1'000},
     {"ms", 1'000'000},
     {"s", ns_in_s},
     {"min", 60 * ns_in_s},
     {"m", 60 * ns_in_s},
     {"h", 3600 * ns_in_s},
     {"d", ns_in_day}}};

} // namespace

std::optional<std::chrono::nanoseconds> parse_time(std::string_view text) noexcept {
  std::int64_t number = 0;
  const auto* const end = text.data() + text.size();
  const auto [stop, problem] = std::from_chars(text.data(), end, number);
  if (problem != std::errc{} || number < 0) return std::nullopt;
  const std::string_view unit(stop, static_cast<std::size_t>(end - stop));
  for (const auto& [name, factor] : time_units)
    if (unit == name)
      return number <= longest_ns / factor
                 ? std::optional(std::chrono::nanoseconds(number * factor))
                 : std::nullopt;
  return std::nullopt;
}

std::optional<std::chrono::milliseconds> parse_milliseconds(std::string_view text) noexcept {
  const auto time = parse_time(text);
  if (!time || *time < std::chrono::milliseconds(1)) return std::nullopt;
  return std::chrono::duration_cast<std::chrono::milliseconds>(*time);
}

} // namespace hearth
