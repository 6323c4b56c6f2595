// The programs that actors run and the directories that these run in, as interfaces. The runtime
// supplies the real ones, tests and the simulator their own.
#pragma once

#include "messages/action.hpp"
#include "messages/artifact.hpp"
#include "messages/error.hpp"
#include "messages/process.hpp"

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

namespace hearth::actors {

/// Runs programs. `run` blocks its caller; any number of threads may call it at once.
class process_runner {
public:
  virtual ~process_runner() = default;
  /// Runs one program to its end, its deadline, or until `stop` is requested; then nothing of it,
  /// its children included, is left running. Errors: `process_failed` when it cannot be started.
  virtual expected<process_result> run(const process_request& request, std::stop_token stop) = 0;
};

/// Tries compiled kernels, each in a process of its own. `run` blocks its caller.
class trial_runner {
public:
  virtual ~trial_runner() = default;
  virtual trial_result run(const trial_request& request, std::chrono::milliseconds deadline,
                           std::stop_token stop) = 0;
};

/// A private directory, removed with all that is in it when this goes.
class scratch_directory {
public:
  virtual ~scratch_directory() = default;
  /// The path of `name` in it; of the directory itself when `name` is empty.
  virtual std::string path(const std::string& name) const = 0;
  /// A new file, and the folders above it.
  virtual expected<void> write(const std::string& name, std::string_view bytes) = 0;
  /// The whole file. Errors: `not_found`, `io`, `too_large`.
  virtual expected<artifact> read(const std::string& name) const = 0;
  virtual bool is_executable(const std::string& /*name*/) const { return false; }
  /// Shows the host's files below `root`; the name of what stands for the view's folder.
  virtual expected<std::string> show(const scratch_view& view) { return "root" + view.folder; }
};

/// Makes scratch directories. Any thread.
class scratch_space {
public:
  virtual ~scratch_space() = default;
  virtual expected<std::unique_ptr<scratch_directory>> make() = 0;
};

} // namespace hearth::actors
