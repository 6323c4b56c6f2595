// The environment variables on which what gcc and clang make depends. Pure functions; any thread.
#pragma once

#include <string_view>

namespace hearth::launcher {

/// Whether a compile's outputs or messages may depend on the variable of this name: folders that
/// are searched, the version of a target's system, the date, language and colours of messages. What
/// the compiler reads because of others is watched; PWD counts only for compiles that tell their
/// folder's name.
bool is_keyed_variable(std::string_view name) noexcept;

} // namespace hearth::launcher
