// A view of the file system for one run: each path is examined once, so that the run sees one state
// of it, and a header that many kernels share costs one system call.
//
// Owned by one run (one plan); any thread.
#pragma once

#include "runtime/fingerprints/files/file_source.hpp"

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace hearth::fingerprints {

/// The stamp of the file at `path`, symbolic links followed; nothing when there is no such file.
std::optional<file_stamp> stamp_now(const std::string& path);

/// `name` if it is absolute, else inside `directory`.
std::string path_in(std::string_view directory, std::string_view name);

/// What a path itself is, symbolic links not followed.
struct link_state {
  enum class kind : std::uint8_t { absent, link, other };
  kind what = kind::absent;
  std::string text{}; ///< of a link
};

/// As it is now.
link_state link_now(const std::string& path);

class file_view {
public:
  explicit file_view(file_source& from = system_files())
      : source_(from) {}
  file_view(const file_view&) = delete;
  file_view& operator=(const file_view&) = delete;

  /// The stamp that `path` had when this view first examined it; nothing when there was no such
  /// file.
  std::optional<file_stamp> stamp(const std::string& path);
  /// What `path` itself was when this view first examined it.
  link_state link(const std::string& path);
  /// Whether `path` exists and is not a directory.
  bool is_file(const std::string& path);
  /// SHA-256 of a regular file. Errors: `not_found`, `permission`, `io`; `unsupported` when it is
  /// not a regular file; `busy` when a writer keeps changing it.
  expected<file_content> content(const std::string& path);

  /// Accepts a file's content from an earlier run, if its stamp is still the same.
  void trust(const std::string& path, const file_content& known);

private:
  file_source& source_;
  std::mutex guard_;
  std::unordered_map<std::string, std::optional<file_stamp>> stamps_;
  std::unordered_map<std::string, link_state> links_;
  std::unordered_map<std::string, file_content> contents_;
};

} // namespace hearth::fingerprints
