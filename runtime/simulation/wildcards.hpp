// Patterns with wildcards, as in scripts. Pure functions, any thread.
#pragma once

#include <string_view>

namespace hearth::simulation {

/// Whether the whole of `text` matches `pattern`, in which `*` matches any text and `?` one
/// character.
bool matches(std::string_view pattern, std::string_view text) noexcept;

} // namespace hearth::simulation
