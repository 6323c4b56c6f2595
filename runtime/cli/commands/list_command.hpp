// hearth list: the entries of a store, which other processes may use meanwhile.
#pragma once

#include "runtime/api/config.hpp"
#include "runtime/cli/io/output.hpp"

#include <optional>
#include <string>

namespace hearth::cli {

struct list_arguments {
  std::optional<std::string> cache; ///< only this cache
  bool json = false;
};

/// A table that fits the width of the output, or everything that the store tells as JSON.
status list(const config& settings, const list_arguments& arguments);

} // namespace hearth::cli
