// Dependency files that compilers write for make (-MD): the files that a program read. Pure
// functions, any thread.
#pragma once

#include "messages/error.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace hearth {

/// The prerequisites of all rules, each once, in order. GCC and Clang escape alike: `$$`, a
/// backslash before white space (the backslashes in front of it doubled) and before `#`; others
/// write one before `:` too. A backslash at the end of a line continues it. Errors: `malformed` for
/// text that is not a rule.
expected<std::vector<std::string>> read_dependencies(std::string_view text);

} // namespace hearth
