// hearth autotune list|show|export|import: commands on the tunings of a store.
#pragma once

#include "runtime/api/config.hpp"
#include "runtime/cli/io/output.hpp"

#include <string>
#include <vector>

namespace hearth::cli {

struct autotune_arguments {
  std::string name;               ///< a tuning's name, or its beginning
  std::string directory;          ///< export: the target folder
  std::vector<std::string> names; ///< export: tunings; empty: all
  std::vector<std::string> files; ///< import: files, or directories of files
  bool json = false;
};

status list_tunings(const config& settings, const autotune_arguments& arguments);
status show_tuning(const config& settings, const autotune_arguments& arguments);
status export_tunings(const config& settings, const autotune_arguments& arguments);
status import_tunings(const config& settings, const autotune_arguments& arguments);

} // namespace hearth::cli
