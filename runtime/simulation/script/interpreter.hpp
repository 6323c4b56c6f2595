// Runs a script: the real actors and the real store, in a simulated world, one message at a time.
// One thread; any number of interpreters, one after the other.
#pragma once

#include "runtime/simulation/script/statements.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace hearth::script {

struct run_options {
  /// 0: in order, nothing that may happen happens, ranges begin at their least. Others choose.
  std::uint64_t seed = 0;
};

/// How a run ended.
struct run_result {
  bool passed = false;
  std::string failure; ///< when it did not: file, line, what was expected and what came
  std::vector<std::string> trace;
  std::uint64_t steps = 0;
};

run_result run(const program& script, const run_options& options);

} // namespace hearth::script
