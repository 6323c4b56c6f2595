// hearth autotune list|show|export|import: what tuning is known.
#pragma once

#include "runtime/api/config.hpp"
#include "runtime/cli/io/output.hpp"

#include <string>
#include <vector>

namespace hearth::cli {

struct autotune_arguments {
  std::string name;               ///< of one tuning, or how its name begins
  std::string directory;          ///< to export to
  std::vector<std::string> names; ///< to export; all without one
  std::vector<std::string> files; ///< to import: files, and directories of them
  bool json = false;
};

status list_tunings(const config& settings, const autotune_arguments& arguments);
status show_tuning(const config& settings, const autotune_arguments& arguments);
status export_tunings(const config& settings, const autotune_arguments& arguments);
status import_tunings(const config& settings, const autotune_arguments& arguments);

} // namespace hearth::cli
