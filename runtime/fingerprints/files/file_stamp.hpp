// What identifies a file's state and content, and the forms of both in memos. Plain values.
#pragma once

#include "messages/digest.hpp"
#include "messages/value.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace hearth::fingerprints {

/// Identifies a state of a file without reading it. The same numbers may stand for another file on
/// another machine, and on another image at the same place: they hold for one mount.
struct file_stamp {
  std::uint64_t mount =
      0; ///< one mount since one boot of one machine; 0: not known, of an old form
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::int64_t size = 0;     ///< bytes
  std::int64_t mtime_ns = 0; ///< since the epoch
  std::int64_t ctime_ns = 0; ///< since the epoch; cannot be set back
  bool is_directory = false;

  friend bool operator==(const file_stamp&, const file_stamp&) = default;
};

/// Changes closer than this to the moment of reading may share their times with a later change.
inline constexpr std::int64_t racy_window_ns = 2'000'000'000;

/// Nanoseconds since the epoch, by the clock of file times.
std::int64_t file_clock_ns();

/// Whether `stamp`, taken at `at_ns`, can be trusted to change with the content.
bool is_reliable(const file_stamp& stamp, std::int64_t at_ns);

/// A file's content and the stamp that it had before and after it was read.
struct file_content {
  file_stamp stamp;
  digest content;
  bool reliable = false; ///< `is_reliable` when it was read
};

/// Convert stamps and contents to and from the form of memos; nothing for a value of another form.
value to_value(const file_stamp& stamp);
value to_value(const file_content& content);
std::optional<file_stamp> read_stamp(const value& from);
std::optional<file_content> read_content(const value& from);

/// Reads a map of such values by path; `read` is one of the two above. Nothing when the map, or a
/// value in it, has another form.
template <class Read>
auto read_by_path(const value* from, Read read) {
  using item = typename decltype(read(value()))::value_type;
  std::optional<std::map<std::string, item>> result;
  const auto* members = from ? from->as<value::map>() : nullptr;
  if (!members) return result;
  result.emplace();
  for (const auto& [path, member] : *members) {
    auto one = read(member);
    if (!one) return std::optional<std::map<std::string, item>>();
    result->emplace_hint(result->end(), path, std::move(*one));
  }
  return result;
}

/// The map of such values that `read_by_path` reads.
template <class Item>
value by_path(const std::map<std::string, Item>& items) {
  value::map members;
  for (const auto& [path, item] : items)
    members.emplace_hint(members.end(), path, to_value(item));
  return members;
}

} // namespace hearth::fingerprints
