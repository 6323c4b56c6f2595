// A view of the file system for one run: each path is examined once, so that the run sees one state
// of it, and a header that many kernels share costs one system call.
//
// Owned by one run (one plan); any thread. A process hashes each content once: it remembers digests
// by identity and times, unless the file changed so recently that a further change could keep the
// same times.
#pragma once

#include "messages/digest.hpp"
#include "messages/error.hpp"
#include "messages/value.hpp"

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

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

/// The stamp of the file at `path`, symbolic links followed; nothing when there is no such file.
std::optional<file_stamp> stamp_now(const std::string& path);

/// Whether `stamp`, taken at `at_ns`, can be trusted to change with the content.
bool is_reliable(const file_stamp& stamp, std::int64_t at_ns);

/// A file's content and the stamp that it had before and after it was read.
struct file_content {
  file_stamp stamp;
  digest content;
  bool reliable = false; ///< `is_reliable` when it was read
};

/// `name` if it is absolute, else inside `directory`.
std::string path_in(std::string_view directory, std::string_view name);

class file_view {
public:
  file_view() = default;
  file_view(const file_view&) = delete;
  file_view& operator=(const file_view&) = delete;

  /// The stamp that `path` had when this view first examined it; nothing when there was no such
  /// file.
  std::optional<file_stamp> stamp(const std::string& path);
  /// Whether `path` exists and is not a directory.
  bool is_file(const std::string& path);
  /// SHA-256 of a regular file. Errors: `not_found`, `permission`, `io`; `unsupported` when it is
  /// not a regular file; `busy` when a writer keeps changing it.
  expected<file_content> content(const std::string& path);

  /// Accepts a file's content from an earlier run, if its stamp is still the same.
  void trust(const std::string& path, const file_content& known);

private:
  std::mutex guard_;
  std::unordered_map<std::string, std::optional<file_stamp>> stamps_;
  std::unordered_map<std::string, file_content> contents_;
};

/// The whole of a regular file, up to `limit` bytes. Errors: as `file_view::content`, and
/// `too_large`.
expected<std::string> read_file(const std::string& path, std::size_t limit);

/// The first `size` bytes of a file, or the whole of a shorter one.
expected<std::string> read_prefix(const std::string& path, std::size_t size);

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
