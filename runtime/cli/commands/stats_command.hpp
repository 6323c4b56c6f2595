// hearth stats: the size of a store, what its caches take, and how compiles ended.
#pragma once

#include "runtime/api/config.hpp"
#include "runtime/cli/io/output.hpp"

namespace hearth::cli {

struct stats_arguments {
  bool zero = false; ///< sets the counts of compiles to zero instead
  bool json = false;
};

status stats(const config& settings, const stats_arguments& arguments);

} // namespace hearth::cli
