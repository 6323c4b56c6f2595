// `hearth run`: a command line as a cached action.
#pragma once

#include "runtime/api/config.hpp"

#include <optional>
#include <string>
#include <vector>

namespace hearth::cli {

/// Statuses beside the command's own, as `env` and `timeout` have them.
enum run_status : int {
  run_timed_out = 124,
  run_failed = 125, ///< Hearth itself
  run_not_executable = 126,
  run_not_found = 127,
  run_signalled = 128, ///< and the signal's number
};

struct run_arguments {
  std::vector<std::string> command; ///< what stands behind `--`
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::vector<std::string> variables; ///< names of the environment that the command gets
  std::vector<std::string> toolchains;
  std::string dependency_file;
  std::string timeout;                       ///< "90s", "5min"; empty: none
  std::string memory;                        ///< "2GiB"
  std::string cpu;                           ///< as `timeout`
  std::optional<std::string> trace, metrics; ///< files to write them to
  bool keep_failures = false;
  bool no_cache = false;
  bool strict = false; ///< declared inputs alone are seen
  bool placeholders = false;
};

/// Runs it, or finds what it came to: puts its outputs into place, passes on what it printed, and
/// returns its status.
int run_action(const config& settings, const run_arguments& arguments);

} // namespace hearth::cli
