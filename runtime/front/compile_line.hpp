// The arguments of `hearth cc`, and the action that they ask for. Reads the environment and
// response files.
#pragma once

#include "runtime/actions/action.hpp"
#include "runtime/launcher/uncached.hpp"

#include <string>
#include <tl/expected.hpp>
#include <vector>

namespace hearth::front {

/// The compile as an action in the folder of this process; its messages are coloured if they are by
/// default and standard error is a terminal. Errors: why it is not cached; the command then has to
/// run as it is.
tl::expected<action, launcher::refusal> action_of_compile(const std::vector<std::string>& words);

} // namespace hearth::front
