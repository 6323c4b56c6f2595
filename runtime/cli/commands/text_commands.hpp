// Commands that use only their arguments, no store: guards and graphs.
#pragma once

#include "runtime/api/config.hpp"
#include "runtime/cli/io/output.hpp"

#include <string>
#include <vector>

namespace hearth::cli {

struct guard_arguments {
  std::string expression;
  std::vector<std::string> symbols; ///< "NAME=INT"
  bool json = false;
};

/// Whether the guard holds for the symbols: "true" (0) or "false" (1).
status guard(const config& settings, const guard_arguments& arguments);

struct graph_arguments {
  std::string file; ///< "-": stdin
  bool json = false;
};

/// Prints the normal text of a graph.
status graph_text(const config& settings, const graph_arguments& arguments);

} // namespace hearth::cli
