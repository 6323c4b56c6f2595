// hearth verify, evict and clear: maintenance of a store, also while other processes write to it.
#pragma once

#include "runtime/api/config.hpp"
#include "runtime/cli/io/output.hpp"

#include <string>

namespace hearth::cli {

struct upkeep_arguments {
  bool repair = false; ///< verify: drops damaged entries
  std::string to;      ///< evict: the size to shrink the store to
  bool json = false;   ///< prints JSON
};

/// Returns `no` when the store is damaged and was not repaired.
status verify(const config& settings, const upkeep_arguments& arguments);
status evict(const config& settings, const upkeep_arguments& arguments);
status clear(const config& settings, const upkeep_arguments& arguments);

} // namespace hearth::cli
