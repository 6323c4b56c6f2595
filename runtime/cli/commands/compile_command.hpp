// hearth compile PLAN: compiles a plan and prints the report.
#pragma once

#include "runtime/api/config.hpp"
#include "runtime/cli/io/output.hpp"

#include <optional>
#include <string>

namespace hearth::cli {

struct compile_arguments {
  std::string plan;
  std::optional<std::string> trace;   ///< file for a Chrome trace
  std::optional<std::string> metrics; ///< file for counters, as Prometheus text
  std::string tune = "full";          ///< name of a `tune_mode`
  std::string tag;                    ///< tag of the tunings
  std::optional<std::string> record;  ///< file for a bundle of what the plan stored and hit
  std::string signing_keys;           ///< keys of which the first signs the bundle; empty: unsigned
  bool explains = false;              ///< say of each miss what is otherwise than it was
  bool json = false;
};

status compile(const config& settings, const compile_arguments& arguments);

} // namespace hearth::cli
