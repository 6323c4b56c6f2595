// Dependency files as compilers write them for make (-MD): what a program read. Pure functions, any
// thread.
#pragma once

#include "messages/error.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace hearth {

/// The prerequisites of all rules, each once, in order. A backslash before a space or `#` and a
/// doubled `$` stand for the character itself; a backslash at the end of a line goes on with the
/// next. Errors: `malformed`, text that is no rule.
expected<std::vector<std::string>> read_dependencies(std::string_view text);

} // namespace hearth
