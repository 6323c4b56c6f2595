// From the text of a script to its statements. Pure function.
#pragma once

#include "messages/error.hpp"
#include "runtime/simulation/script/statements.hpp"

#include <string>
#include <string_view>

namespace hearth::script {

/// Parses a whole script; names are checked, so that what parses can run. Errors: `malformed`,
/// "FILE:LINE:COLUMN: expected X, got Y".
expected<program> parse(const std::string& file, std::string_view text);

} // namespace hearth::script
