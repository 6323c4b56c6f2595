// Parses the text of a script into statements. Pure function.
#pragma once

#include "messages/error.hpp"
#include "runtime/simulation/script/statements.hpp"

#include <string>
#include <string_view>

namespace hearth::script {

/// Parses a whole script and checks its names, so that a parsed script can run. Errors:
/// `malformed`, "FILE:LINE:COLUMN: expected X, got Y".
expected<program> parse(const std::string& file, std::string_view text);

} // namespace hearth::script
