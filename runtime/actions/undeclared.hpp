// What a watched command looked for although it is not declared. Reads files; any thread.
#pragma once

#include "messages/action.hpp"
#include "runtime/actions/action.hpp"

#include <string>
#include <vector>

namespace hearth {

/// Names, relative to the action's folder and in order, of the host's files there that the command
/// looked for in vain, since it may see only what is declared, or read by absolute paths. Empty if
/// it is not known what the command looked at.
std::vector<std::string> undeclared_in(const action& asked, const action_request::run_record& run);

} // namespace hearth
