// Runs a script: the real actors and the real store, in a simulated world, one message at a time.
// One thread; any number of interpreters, one after the other.
#pragma once

#include "runtime/simulation/script/statements.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace hearth::script {

struct run_options {
  /// 0: messages in order, no `maybe` statement, the least value of each range. Other seeds choose
  /// at random.
  std::uint64_t seed = 0;
};

/// How a run ended.
struct run_result {
  bool passed = false;
  std::string failure; ///< if it failed: file, line, expected and actual outcome
  std::vector<std::string> trace;
  std::uint64_t steps = 0;
};

run_result run(const program& script, const run_options& options);

} // namespace hearth::script
