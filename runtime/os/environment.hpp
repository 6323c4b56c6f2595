// The environment variables of a process, as texts "NAME=value". Pure functions, any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hearth::os {

/// The value of NAME, or null.
const char* find_variable(const std::vector<std::string>& environment, std::string_view name);

} // namespace hearth::os
