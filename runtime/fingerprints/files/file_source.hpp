// Where files are looked at: the system, or a simulation of one.
//
// A source remembers digests by path and stamp, unless the file changed so recently that a further
// change could keep the same times: a process hashes each content once. Any thread.
#pragma once

#include "messages/error.hpp"
#include "runtime/fingerprints/files/file_stamp.hpp"

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>

namespace hearth::fingerprints {

class file_source {
public:
  virtual ~file_source() = default;
  /// The stamp of the file at `path`, symbolic links followed; nothing when there is no such file.
  virtual std::optional<file_stamp> stamp(const std::string& path) = 0;
  /// Nanoseconds since the epoch. Not by the coarse clock: file times may come from a finer one,
  /// which is ahead of it.
  virtual std::int64_t clock_ns() = 0;
  /// The mounts that there are now, as in stamps; nothing where they cannot be listed.
  virtual std::optional<std::set<std::uint64_t>> mounts() = 0;
  /// Reads a regular file. Errors: as `file_view::content`.
  virtual expected<file_content> hash(const std::string& path) = 0;

  /// The content that was remembered for `path` with this stamp.
  std::optional<file_content> known(const std::string& path, const file_stamp& stamp);
  /// Remembers a content, if it is reliable.
  void remember(const std::string& path, const file_content& content);

private:
  std::mutex guard_;
  std::unordered_map<std::string, file_content> digests_;
};

/// The file system. Lives as long as the process.
file_source& system_files();

/// The whole of a regular file, up to `limit` bytes. Errors: as `file_view::content`, and
/// `too_large`.
expected<std::string> read_file(const std::string& path, std::size_t limit);

/// The first `size` bytes of a file, or the whole of a shorter one.
expected<std::string> read_prefix(const std::string& path, std::size_t size);

} // namespace hearth::fingerprints
