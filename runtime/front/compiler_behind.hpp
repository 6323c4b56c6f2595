// The compiler behind a link to `hearth` that has a compiler's name.
#pragma once

#include <optional>
#include <string>

namespace hearth::front {

/// The path of the first program of this name in PATH that is not this program itself, by whatever
/// link. Nothing: there is none. Reads the file system; any thread.
std::optional<std::string> compiler_behind(const std::string& name);

} // namespace hearth::front
