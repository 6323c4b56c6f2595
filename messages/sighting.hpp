// The paths that a watched program looked at, as its supervisor tells them to the host. Plain
// values; pure functions, any thread.
#pragma once

#include "messages/error.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hearth {

/// One path that a watched program, or a program that it started, opened, ran, listed, asked about
/// or looked for in vain.
struct sighting {
  std::string path;         ///< absolute; "." and ".." and symbolic links are still in it
  bool follows = true;      ///< false: a symbolic link at its end was looked at itself
  bool was_relative = true; ///< whether the program named it relative to a folder
  bool was_there = false;   ///< whether it existed when it was first looked at
  bool was_listed = false;
  bool was_run = false;
  /// If it was there, what it was.
  std::uint64_t device = 0, inode = 0;

  friend bool operator==(const sighting&, const sighting&) = default;
};

/// Appends the form that a supervisor writes: a byte of flags, the path, a NUL, and, if it was
/// there, its device and inode.
void append_sighting(std::string& to, const sighting& seen);
/// Errors: `malformed`.
expected<std::vector<sighting>> read_sightings(std::string_view bytes);

} // namespace hearth
