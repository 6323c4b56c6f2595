// Reads the tables of a TOML file into plain values, by lists of members: the name, and the
// function that reads it. Every mistake is one line with file, line and member. Plain values and
// pure functions.
#pragma once

#include "messages/error.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <toml++/toml.h>
#include <utility>
#include <vector>

namespace hearth::server {

/// A table: the file that holds it, and its name there ("limits"); empty for the whole file.
struct toml_place {
  std::string file;
  std::string table;
};

/// "FILE:LINE: TABLE.MEMBER: WHAT", in one line whatever the parts hold. Line 0, an empty table and
/// an empty member are left out.
error toml_error(const toml_place& at, std::size_t line, std::string_view member, errc code,
                 std::string_view what);

/// Parses a file's text. Errors: `malformed`, with file and line.
expected<toml::table> parse_toml(std::string_view text, const std::filesystem::path& file);

/// A member of a table as the file has it.
struct toml_item {
  std::string_view name;
  std::size_t line = 0;
  const toml::node* node = nullptr;
};
/// The members of a table in the order of the file; valid as long as the table.
std::vector<toml_item> toml_items(const toml::table& table);

/// "is unknown; is 'store' meant?", or the known names when none is near.
std::string unknown_member(std::string_view name, std::span<const std::string_view> known);

/// A member that a table may have. Without a function it is known, and read elsewhere.
template <class Into>
struct toml_member {
  std::string_view name;
  expected<void> (*read)(const toml::node& node, Into& into) = nullptr;
};

/// Reads all members of a table. Errors: `malformed`, the first mistake in the file: an unknown
/// member, or what the member's function says.
template <class Into>
expected<void> read_members(const toml_place& at, const toml::table& table,
                            std::span<const toml_member<Into>> known, Into& into) {
  for (const auto& item : toml_items(table)) {
    std::vector<std::string_view> names;
    const toml_member<Into>* found = nullptr;
    for (const auto& one : known) {
      names.push_back(one.name);
      if (one.name == item.name) found = &one;
    }
    if (!found)
      return fail(
          toml_error(at, item.line, item.name, errc::malformed, unknown_member(item.name, names)));
    if (!found->read) continue;
    if (auto done = found->read(*item.node, into); !done)
      return fail(toml_error(at, item.line, item.name, errc::malformed, done.error().text()));
  }
  return {};
}

/// The value of a text in quotes, neither empty nor with a zero byte.
expected<std::string> toml_text(const toml::node& node);
expected<bool> toml_flag(const toml::node& node);
/// The index of a text among the names.
expected<std::size_t> toml_choice(const toml::node& node,
                                  std::initializer_list<std::string_view> names);
/// A whole number from `min` to `max`.
expected<std::uint64_t> toml_count(const toml::node& node, std::uint64_t min, std::uint64_t max);
/// A size with a unit ("64MiB"), in bytes, from `min` to `max`.
expected<std::uint64_t> toml_size(const toml::node& node, std::uint64_t min, std::uint64_t max);
/// A time with a unit ("8s"), from 1 ms to 1,000 days.
expected<std::chrono::milliseconds> toml_time(const toml::node& node);
/// The same, or "never", which is zero.
expected<std::chrono::milliseconds> toml_time_or_never(const toml::node& node);

/// Assigns a value that was read; for the functions of members.
template <class To, class From>
expected<void> assign(To& to, expected<From> value) {
  if (!value) return fail(value.error());
  to = static_cast<To>(std::move(*value));
  return {};
}

} // namespace hearth::server
