// The paths that a watched program looked at, as its supervisor tells them to the host. Plain
// values; pure functions, any thread.
#pragma once

#include "messages/error.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace hearth {

/// One path that a watched program, or a program that it started, opened, ran, listed, asked about
/// or looked for in vain.
struct sighting {
  std::string path;       ///< absolute; "." and ".." and symbolic links are still in it
  bool follows = true;    ///< false: a symbolic link at its end was looked at itself
  bool was_there = false; ///< whether it existed when it was first looked at
  bool was_listed = false;

  friend bool operator==(const sighting&, const sighting&) = default;
};

/// Appends the form that a supervisor writes: a byte of flags, the path, and a NUL.
void append_sighting(std::string& to, const sighting& seen);
/// Errors: `malformed`.
expected<std::vector<sighting>> read_sightings(std::string_view bytes);

} // namespace hearth
