// hearth verify, evict and clear: looking after a store, also while others write to it.
#pragma once

#include "runtime/api/config.hpp"
#include "runtime/cli/io/output.hpp"

#include <string>

namespace hearth::cli {

struct upkeep_arguments {
  bool repair = false; ///< of verify
  std::string to;      ///< of evict: a size
  bool json = false;
};

/// Status `no` when the store is not intact, or was not made so.
status verify(const config& settings, const upkeep_arguments& arguments);
status evict(const config& settings, const upkeep_arguments& arguments);
status clear(const config& settings, const upkeep_arguments& arguments);

} // namespace hearth::cli
