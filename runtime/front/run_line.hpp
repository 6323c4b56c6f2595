// The arguments of `hearth run`, and the action that they ask for. Plain values; any thread.
#pragma once

#include "messages/error.hpp"
#include "runtime/actions/action.hpp"

#include <optional>
#include <string>
#include <vector>

namespace hearth::front {

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
  bool says_why = false; ///< on a miss, say on stderr what is otherwise
  bool explains = false; ///< `hearth explain ... -- COMMAND`
};

/// The action, in the folder of this process. Errors: `invalid_argument` and `malformed` (a limit).
expected<action> action_of(const run_arguments& arguments);

} // namespace hearth::front
