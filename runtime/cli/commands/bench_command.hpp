// `hearth bench`: replaces this process by the program `hearth-bench`, which is beside it if the
// benchmark's peers were available at build time.
#pragma once

#include "runtime/cli/io/output.hpp"

#include <string>
#include <vector>

namespace hearth::cli {

/// Options passed on to hearth-bench, which checks them; empty: not given.
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
