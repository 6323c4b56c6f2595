#include "runtime/server/http/message/byte_range.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

namespace hearth::server {
namespace {

std::optional<std::uint64_t> number_of(std::string_view text) {
  std::uint64_t number = 0;
  const auto* end = text.data() + text.size();
  const auto [at, problem] = std::from_chars(text.data(), end, number);
  if (text.empty() || at != end || problem != std::errc{}) return std::nullopt;
  return number;
}

constexpr byte_range unsatisfiable{range_form::unsatisfiable, 0, 0};

byte_range last_bytes(std::string_view text, std::uint64_t size) {
  const auto count = number_of(text);
  if (!count) return {};
  if (*count == 0 || size == 0) return unsatisfiable;
  const auto sent = std::min(*count, size);
  return {range_form::part, size - sent, sent};
}

} // namespace

byte_range range_of(std::string_view header, std::uint64_t size) {
  constexpr std::string_view unit = "bytes=";
  if (!header.starts_with(unit)) return {};
  header.remove_prefix(unit.size());
  const auto dash = header.find('-');
  if (dash == std::string_view::npos) return {};
  if (dash == 0) return last_bytes(header.substr(1), size);
  const auto first = number_of(header.substr(0, dash));
  const auto end = header.substr(dash + 1);
  const auto last = end.empty() ? std::optional(UINT64_MAX) : number_of(end);
  if (!first || !last || *last < *first) return {};
  if (*first >= size) return unsatisfiable;
  return {range_form::part, *first, std::min(*last, size - 1) - *first + 1};
}

} // namespace hearth::server
