// Interfaces for running programs and for the directories that programs run in. The runtime
// supplies the real ones; tests and the simulator supply their own.
#pragma once

#include "messages/action.hpp"
#include "messages/artifact.hpp"
#include "messages/error.hpp"
#include "messages/process.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

namespace hearth::actors {

/// Runs programs. `run` blocks its caller; any number of threads may call it at once.
class process_runner {
public:
  virtual ~process_runner() = default;
  /// Runs one program until it ends, its deadline passes or `stop` is requested. Afterwards neither
  /// the program nor any of its children is running. Errors: `process_failed` when it cannot be
  /// started.
  virtual expected<process_result> run(const process_request& request, std::stop_token stop) = 0;
};

/// Tries compiled kernels, each in its own process. `run` blocks its caller.
class trial_runner {
public:
  virtual ~trial_runner() = default;
  virtual trial_result run(const trial_request& request, std::chrono::milliseconds deadline,
                           std::stop_token stop) = 0;
};

/// The name, in a scratch directory, of the folder with the changes of an overlay.
inline constexpr std::string_view changes_folder = "changes";

/// A private directory; the destructor removes it with its content.
class scratch_directory {
public:
  virtual ~scratch_directory() = default;
  /// The path of `name` in the directory; the directory's own path if `name` is empty.
  virtual std::string path(const std::string& name) const = 0;
  /// Writes a new file and makes the folders above it.
  virtual expected<void> write(const std::string& name, std::string_view bytes) = 0;
  /// Reads a whole file. Errors: `not_found`, `io`, `too_large`.
  virtual expected<artifact> read(const std::string& name) const = 0;
  virtual bool is_executable(const std::string& /*name*/) const { return false; }
  /// Shows the host's files below `root`. Returns the name, in this directory, of the view's
  /// folder.
  virtual expected<std::string> show(const scratch_view& view) { return "root" + view.folder; }
  /// Prepares an overlay over the view's folder, whose changes are to lie in `changes_folder` here.
  /// Nothing: a file of `places` would be made elsewhere.
  virtual expected<std::optional<folder_cover>> cover(const scratch_view& /*view*/) {
    return std::nullopt;
  }
};

/// Makes scratch directories. Any thread.
class scratch_space {
public:
  virtual ~scratch_space() = default;
  virtual expected<std::unique_ptr<scratch_directory>> make() = 0;
};

} // namespace hearth::actors
