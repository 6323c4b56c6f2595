// What actors need from outside, as interfaces. The runtime supplies the real ones, tests and the
// simulator their own.
#pragma once

#include "messages/error.hpp"
#include "messages/process.hpp"

#include <stop_token>

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

} // namespace hearth::actors
