// The private directory of a run: made below the requested one, removed when the run ends, also by
// SIGINT, SIGTERM or SIGHUP.
//
// Owner: main, before it starts any other thread: it blocks the signals in all threads, and a
// thread of its own waits for them.
#pragma once

#include "messages/error.hpp"

#include <filesystem>
#include <string>

namespace hearth::bench {

class work_directory {
public:
  /// Errors: `io`, `permission`, `not_found`, `no_space`.
  static expected<work_directory> make(const std::filesystem::path& below);
  work_directory(work_directory&& other) noexcept
      : path_(std::move(other.path_)) {
    other.path_.clear();
  }
  work_directory& operator=(work_directory&&) = delete;
  ~work_directory();

  const std::filesystem::path& path() const noexcept { return path_; }

private:
  explicit work_directory(std::filesystem::path path);

  std::filesystem::path path_;
};

/// Whether a signal is ending the program: operations then fail because their files are removed.
bool is_ending() noexcept;
/// $TMPDIR, else /tmp.
std::filesystem::path default_directory();
/// The type of a directory's file system: "ext4", "tmpfs", ...
std::string file_system_of(const std::filesystem::path& directory);
/// Writes a file of `bytes` bytes and removes it, so that the host backs as many pages of a virtual
/// machine's memory: the first touch of a page without backing costs ten times a write.
void warm_pages(const std::filesystem::path& directory, std::uint64_t bytes);

} // namespace hearth::bench
