// hearth list and stats: the contents of a store, which other processes may use meanwhile.
#pragma once

#include "runtime/api/config.hpp"
#include "runtime/cli/io/output.hpp"

#include <optional>
#include <string>

namespace hearth::cli {

struct store_arguments {
  std::optional<std::string> cache; ///< list: only this cache
  bool json = false;
  bool zero = false; ///< stats: forget the counts of compiles
};

status list(const config& settings, const store_arguments& arguments);
status stats(const config& settings, const store_arguments& arguments);

} // namespace hearth::cli
