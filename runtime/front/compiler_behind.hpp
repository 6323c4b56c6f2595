// The compiler behind a link to `hearth` that has a compiler's name.
#pragma once

#include <optional>
#include <string>

namespace hearth::front {

/// Keeps the compilers behind launchers, by path, with colons between them.
inline constexpr const char* compilers_behind_variable = "HEARTH_COMPILERS_BEHIND";

/// The path of the next program of this name in PATH that is not this program itself, by whatever
/// link. Nothing: there is none. Another launcher may come next, which starts the first program of
/// that name in turn: this one again. So the paths are kept in a variable, and the search begins
/// behind the last of that name. Reads the file
/// system, changes the environment: no other thread may use it meanwhile.
std::optional<std::string> compiler_behind(const std::string& name);

} // namespace hearth::front
