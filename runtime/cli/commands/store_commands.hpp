// hearth list and stats: what a store holds. They work on a live store.
#pragma once

#include "runtime/api/config.hpp"
#include "runtime/cli/io/output.hpp"

#include <optional>
#include <string>

namespace hearth::cli {

struct store_arguments {
  std::optional<std::string> cache; ///< of list: this one alone
  bool json = false;
};

status list(const config& settings, const store_arguments& arguments);
status stats(const config& settings, const store_arguments& arguments);

} // namespace hearth::cli
