// hearth compile PLAN: the main job, shown.
#pragma once

#include "runtime/api/config.hpp"
#include "runtime/cli/io/output.hpp"

#include <optional>
#include <string>

namespace hearth::cli {

struct compile_arguments {
  std::string plan;
  std::optional<std::string> trace;   ///< a Chrome trace is written there
  std::optional<std::string> metrics; ///< counters for Prometheus are written there
  std::string tune = "full";          ///< a `tune_mode` by its name
  std::string tag;                    ///< of the tunings
  bool json = false;
};

status compile(const config& settings, const compile_arguments& arguments);

} // namespace hearth::cli
