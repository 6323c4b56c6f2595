// The arguments of `hearth cc`, and the action that they ask for. Reads the environment and
// response files.
#pragma once

#include "runtime/actions/action.hpp"
#include "runtime/launcher/uncached.hpp"

#include <string>
#include <tl/expected.hpp>
#include <vector>

namespace hearth::front {

/// The variable with the base folder: absolute paths below it are made relative in command lines.
inline constexpr const char* base_variable = "HEARTH_BASEDIR";

/// The compile as an action in the folder of this process, whose messages go to a file. Errors: why
/// it is not cached; the command then has to run as it is.
tl::expected<action, launcher::refusal> action_of_compile(const std::vector<std::string>& words);

/// Whether the compiler has to run as it is because of what this outcome would print: a failure,
/// which leaves files and messages of its own kind, or messages for a terminal, which have colours,
/// links and its width.
bool has_to_run_plainly(const action_outcome& outcome);

} // namespace hearth::front
