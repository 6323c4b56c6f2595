// `hearth run`: a command line as a cached action; `hearth explain ... -- COMMAND`.
#pragma once

#include "runtime/api/config.hpp"
#include "runtime/cli/io/output.hpp"

#include <optional>
#include <string>
#include <vector>

namespace hearth::cli {

struct run_arguments {
  std::vector<std::string> command; ///< the words after `--`
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::vector<std::string> variables; ///< environment variables that the command gets
  std::vector<std::string> toolchains;
  std::string dependency_file;
  std::string timeout;                       ///< "90s", "5min"; empty: none
  std::string memory;                        ///< "2GiB"
  std::string cpu;                           ///< CPU time, written as `timeout`
  std::optional<std::string> trace, metrics; ///< files for the trace and the metrics
  bool keep_failures = false;
  bool no_cache = false;
  bool strict = false; ///< the command sees only declared inputs
  bool placeholders = false;
  bool explains = false; ///< `hearth explain ... -- COMMAND`
};

/// Runs the command, or finds its stored result: writes its outputs, prints what it printed, and
/// returns its status.
int run_action(const config& settings, const run_arguments& arguments);

/// Prints whether the result of the command would be found (0) or not (1), why not, and what the
/// stored runs read.
status explain_action(const config& settings, const run_arguments& arguments, bool as_json);

} // namespace hearth::cli
