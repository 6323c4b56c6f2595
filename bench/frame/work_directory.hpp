// The private directory that a run works in: made below the one that was asked for, removed when
// the run ends, by SIGINT, SIGTERM and SIGHUP too.
//
// Owner: main, before it starts any other thread: the signals are blocked in all threads and waited
// for by one of its own.
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

/// Whether a signal is ending the program: what fails then, fails since its files are gone.
bool is_ending() noexcept;
/// $TMPDIR, else /tmp.
std::filesystem::path default_directory();
/// The kind of file system that a directory is on: "ext4", "tmpfs", ...
std::string file_system_of(const std::filesystem::path& directory);
/// Writes a file of so many bytes and removes it, so that as many pages of the machine's memory are
/// backed by its host: the first touch of one that is not costs ten times a write.
void warm_pages(const std::filesystem::path& directory, std::uint64_t bytes);

} // namespace hearth::bench
