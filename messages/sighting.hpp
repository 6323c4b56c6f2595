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
///
/// The program may run in a scratch directory, where links show the host's files (`scratch_view`),
/// and where it may make links of its own. Both were followed when it looked, so the path is one of
/// the host, or that of what lies in the scratch directory itself.
struct sighting {
  std::string path; ///< absolute; "." and ".." and symbolic links of the host are still in it
  /// So many bytes of `path` are a folder or file of the host that the program started from: its
  /// working folder, or what a link in the scratch directory shows. 0: it named all of the path.
  std::uint64_t base = 0;
  bool from_scratch = false; ///< it came from the scratch directory to `base`, or is in there
  bool follows = true;       ///< false: a symbolic link at its end was looked at itself
  bool was_there = false;    ///< whether it existed when it was first looked at
  bool was_listed = false;
  bool was_run = false;
  bool is_shown = false;   ///< in the scratch directory: a link that shows the host's entry
  bool told_place = false; ///< it read where on the host that link leads, or where its folder is
  /// If it was there, what it was.
  std::uint64_t device = 0, inode = 0;

  friend bool operator==(const sighting&, const sighting&) = default;
};

/// The components of a path, the last one first; "." is left out.
std::vector<std::string> reversed_components(std::string_view path);

/// The form that a supervisor writes: for each a byte of flags, the path, a NUL, `base`, and, if it
/// was there, its device and inode; then a mark of the end.
std::string encode_sightings(const std::vector<sighting>& all);
/// Errors: `malformed`, also if the end is missing.
expected<std::vector<sighting>> read_sightings(std::string_view bytes);

} // namespace hearth
