// `hearth run`: a command line as a cached action; `hearth explain ... -- COMMAND`.
#pragma once

#include "runtime/actions/action.hpp"
#include "runtime/api/config.hpp"
#include "runtime/cli/io/output.hpp"
#include "runtime/front/run_line.hpp"
#include "runtime/handle/runtime.hpp"

#include <string>

namespace hearth::cli {

using front::run_arguments;

/// The settings of a runtime that makes one run and ends.
config settings_of_one_run(config settings);

/// Keeps why a run was needed, for `hearth explain --last`. Nothing is kept of a result that was
/// found, or where the settings say so.
void keep_miss(runtime& rt, const config& settings, const std::string& what,
               const action_outcome& outcome);

/// Runs the command, or finds its stored result: writes its outputs, prints what it printed, and
/// returns its status.
int run_action(const config& settings, const run_arguments& arguments);

/// Prints whether the result of the command would be found (0) or not (1), why not, and what the
/// stored runs read.
status explain_action(const config& settings, const run_arguments& arguments, bool as_json);

/// As above, for any action.
status explain(const config& settings, const action& asked, bool as_json);

} // namespace hearth::cli
