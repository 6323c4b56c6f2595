// `hearth bench`: becomes the program `hearth-bench`, which lies beside it where the benchmark's
// peers were there to build it.
#pragma once

#include "runtime/cli/io/output.hpp"

#include <string>
#include <vector>

namespace hearth::cli {

/// What is handed on to hearth-bench, which checks it; empty: not given.
struct bench_arguments {
  std::vector<std::string> rows;
  std::string directory;
  std::string rounds;
  std::string only;
  bool list = false;
  bool smoke = false;
  bool processor_time = false;
};

/// Runs hearth-bench in place of this process. Returns only when it cannot.
status bench(const bench_arguments& arguments, bool json);

} // namespace hearth::cli
