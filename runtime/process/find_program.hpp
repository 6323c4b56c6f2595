// Where a program is that is named as a shell would name it. Pure but for looking at files; any
// thread.
#pragma once

#include "messages/error.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace hearth {

/// The value of NAME in "NAME=value" texts, or null.
const char* find_variable(const std::vector<std::string>& environment, std::string_view name);

/// The executable file that `name` means: itself when there is a '/' in it (relative to
/// `directory`), else the first of that name in the PATH of `environment`, or of this process when
/// `environment` has none. Errors: `process_failed`, saying where it was looked for.
expected<std::string> find_program(const std::string& name,
                                   const std::vector<std::string>& environment,
                                   const std::string& directory);

} // namespace hearth
