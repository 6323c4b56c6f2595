#include "runtime/server/access/toml_members.hpp"

#include "messages/hex.hpp"
#include "messages/size_text.hpp"
#include "messages/source_place.hpp"
#include "messages/time_text.hpp"
#include "messages/toml_depth.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>

namespace hearth::server {
namespace {

constexpr std::size_t max_guessed_name_bytes = 64;

tl::unexpected<error> unreadable(std::string what) {
  return fail(errc::malformed, std::move(what));
}

std::string in_quotes(std::string_view text) { return "'" + std::string(text) + "'"; }

template <class Names>
std::string joined_names(const Names& names) {
  std::string text;
  for (const std::string_view name : names)
    text.append(text.empty() ? "" : ", ").append(name);
  return text;
}

// The least number of characters to insert, remove or replace (Levenshtein).
std::size_t edit_distance(std::string_view from, std::string_view to) {
  std::vector<std::size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < from.size(); ++i) {
    auto diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < to.size(); ++j) {
      const auto replaced = diagonal + (from[i] == to[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, diagonal + 1, row[j] + 1});
    }
  }
  return row.back();
}

// The nearest of the names; empty when most of its characters are others.
std::string_view nearest_name(std::string_view name, std::span<const std::string_view> known) {
  std::string_view nearest;
  if (name.size() > max_guessed_name_bytes) return nearest;
  auto least = std::numeric_limits<std::size_t>::max();
  for (const auto one : known) {
    const auto distance = edit_distance(name, one);
    if (distance >= least || distance > std::max(name.size(), one.size()) / 2) continue;
    least = distance;
    nearest = one;
  }
  return nearest;
}

} // namespace

error toml_error(const toml_place& at, std::size_t line, std::string_view member, errc code,
                 std::string_view what) {
  const bool is_in_table = !at.table.empty() && !member.empty();
  const auto name = at.table + (is_in_table ? "." : "") + std::string(member);
  return error_at(at.file, line, name, code, what);
}

expected<toml::table> parse_toml(std::string_view text, const std::filesystem::path& file) {
  if (const auto line = line_of_deep_toml_key(text); line != 0)
    return fail(
        toml_error({file.string(), ""}, line, "", errc::malformed, "a key has too many parts"));
  try {
    return toml::parse(text);
  } catch (const toml::parse_error& problem) {
    return fail(toml_error({file.string(), ""}, problem.source().begin.line, "", errc::malformed,
                           problem.description()));
  }
}

std::vector<toml_item> toml_items(const toml::table& table) {
  std::vector<toml_item> items;
  std::vector<std::tuple<toml::source_position, std::size_t>> order;
  for (const auto& [key, node] : table) {
    const auto begin = key.source().begin;
    order.emplace_back(begin, items.size());
    items.push_back({key.str(), begin.line, &node});
  }
  std::sort(order.begin(), order.end());
  std::vector<toml_item> sorted;
  for (const auto& [begin, index] : order)
    sorted.push_back(items[index]);
  return sorted;
}

std::string unknown_member(std::string_view name, std::span<const std::string_view> known) {
  const auto nearest = nearest_name(name, known);
  return nearest.empty() ? "is unknown; known are " + joined_names(known)
                         : "is unknown; is " + in_quotes(nearest) + " meant?";
}

expected<std::string> toml_text(const toml::node& node) {
  const auto text = node.value_exact<std::string>();
  if (!text) return unreadable("has to be a text in quotes");
  if (text->empty()) return unreadable("is empty; give a text, or leave the member out");
  if (text->find('\0') != std::string::npos) return unreadable("holds a zero byte; leave it out");
  return *text;
}

expected<bool> toml_flag(const toml::node& node) {
  const auto flag = node.value_exact<bool>();
  if (!flag) return unreadable("has to be true or false, without quotes");
  return *flag;
}

expected<std::size_t> toml_choice(const toml::node& node,
                                  std::initializer_list<std::string_view> names) {
  const auto text = node.value_exact<std::string>();
  const auto* const found = text ? std::find(names.begin(), names.end(), *text) : names.end();
  if (found == names.end())
    return unreadable(
        (text ? in_quotes(*text) + " is unknown; write" : "has to be a text in quotes:") +
        std::string(" one of ") + joined_names(names));
  return static_cast<std::size_t>(found - names.begin());
}

expected<std::uint64_t> toml_count(const toml::node& node, std::uint64_t min, std::uint64_t max) {
  const auto number = node.value_exact<std::int64_t>();
  if (number && *number >= 0 && static_cast<std::uint64_t>(*number) >= min &&
      static_cast<std::uint64_t>(*number) <= max)
    return static_cast<std::uint64_t>(*number);
  return unreadable("has to be a whole number from " + std::to_string(min) + " to " +
                    std::to_string(max));
}

expected<std::uint64_t> toml_size(const toml::node& node, std::uint64_t min, std::uint64_t max) {
  const auto text = node.value_exact<std::string>();
  if (!text || text->find_first_not_of("0123456789.") == std::string::npos)
    return unreadable("has to be a size with a unit, in quotes; write \"64MiB\" or \"2GB\"");
  const auto size = parse_size(*text);
  if (!size) return fail(size.error());
  if (*size < min || *size > max)
    return unreadable(in_quotes(*text) + " is out of range; " + std::to_string(min) + " to " +
                      std::to_string(max) + " bytes are allowed");
  return *size;
}

expected<std::chrono::milliseconds> toml_time(const toml::node& node) {
  const auto text = node.value_exact<std::string>();
  const auto time = text ? parse_milliseconds(*text) : std::nullopt;
  if (time) return *time;
  return unreadable((text ? in_quotes(*text) + " is no time from 1ms to 1000d"
                          : std::string("has to be a time with a unit, in quotes")) +
                    "; write \"500ms\", \"8s\", \"5min\" or \"1h\"");
}

expected<std::chrono::milliseconds> toml_time_or_never(const toml::node& node) {
  if (node.value_exact<std::string>() == "never") return std::chrono::milliseconds(0);
  auto time = toml_time(node);
  if (!time) return unreadable(time.error().text() + "; \"never\" for no limit");
  return time;
}

} // namespace hearth::server
