#include "runtime/server/streams/stream_id.hpp"

#include <charconv>

namespace hearth::server {
namespace {

constexpr auto last_number = ~std::uint64_t{0};

std::optional<std::uint64_t> parse_part(std::string_view digits) noexcept {
  std::uint64_t number = 0;
  const auto* const end = digits.data() + digits.size();
  const auto [stopped, failed] = std::from_chars(digits.data(), end, number);
  if (failed != std::errc{} || stopped != end) return std::nullopt;
  return number;
}

} // namespace

std::string to_string(const stream_id& id) {
  return std::to_string(id.time) + "-" + std::to_string(id.number);
}

std::optional<stream_id> parse_stream_id(std::string_view word, std::uint64_t number) noexcept {
  const auto dash = word.find('-');
  const auto time = parse_part(word.substr(0, dash));
  if (!time) return std::nullopt;
  if (dash == std::string_view::npos) return stream_id{*time, number};
  const auto given = parse_part(word.substr(dash + 1));
  return given ? std::optional(stream_id{*time, *given}) : std::nullopt;
}

std::optional<stream_id> next_of(const stream_id& id) noexcept {
  if (id.number != last_number) return stream_id{id.time, id.number + 1};
  if (id.time != last_number) return stream_id{id.time + 1, 0};
  return std::nullopt;
}

std::optional<stream_id> previous_of(const stream_id& id) noexcept {
  if (id.number != 0) return stream_id{id.time, id.number - 1};
  if (id.time != 0) return stream_id{id.time - 1, last_number};
  return std::nullopt;
}

std::optional<stream_id> parse_range_start(std::string_view word) noexcept {
  if (word == "-") return stream_id{};
  if (word == "+") return last_stream_id;
  if (!word.starts_with('(')) return parse_stream_id(word, 0);
  const auto id = parse_stream_id(word.substr(1), 0);
  return id ? next_of(*id) : std::nullopt;
}

std::optional<stream_id> parse_range_end(std::string_view word) noexcept {
  if (word == "-") return stream_id{};
  if (word == "+") return last_stream_id;
  if (!word.starts_with('(')) return parse_stream_id(word, last_number);
  const auto id = parse_stream_id(word.substr(1), last_number);
  return id ? previous_of(*id) : std::nullopt;
}

} // namespace hearth::server
