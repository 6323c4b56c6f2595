// Observations: the files that a command reported to have read, each by content. Bytes that are
// stored with its result; any thread.
#pragma once

#include "messages/error.hpp"
#include "runtime/fingerprints/files/file_view.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace hearth::fingerprints {

/// A file: its name in an observation, and its path.
struct named_file {
  std::string name, path;
};

/// The moment at which a command starts. What changes later, or is on a mount that is made later,
/// need not be what it has read.
struct start_of_run {
  explicit start_of_run(file_source& in = system_files());
  /// Waits, a few milliseconds, until a file that changes gets a later time than this. The command
  /// starts afterwards, so that each change that it may have missed shows.
  void wait_until_changes_show() const;
  std::int64_t time_ns; ///< since the epoch
  std::optional<std::set<std::uint64_t>> mounts;
};

/// Whether a file with this stamp may have changed since, or be on a mount that was made since.
bool may_have_changed(const file_stamp& stamp, const start_of_run& start);

/// Encodes the contents of files. Errors: `busy` when one may have been another at the start; those
/// of `file_view::content`.
expected<std::string> observe(const std::vector<named_file>& files, const start_of_run& start,
                              file_view& in);

/// The names of an observation's files; empty for other bytes.
std::vector<std::string> names_in(std::string_view observation);

/// Whether all files of an observation still have the recorded content. `path_of`: the path of a
/// name.
bool holds(std::string_view observation,
           const std::function<std::string(const std::string&)>& path_of, file_view& in);

} // namespace hearth::fingerprints
