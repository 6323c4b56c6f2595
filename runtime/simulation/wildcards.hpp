// Patterns with wildcards, as scripts write them. Pure functions, any thread.
#pragma once

#include <string_view>

namespace hearth::simulation {

/// Whether the whole of `text` fits `pattern`, where `*` stands for any text and `?` for one
/// character.
bool matches(std::string_view pattern, std::string_view text) noexcept;

} // namespace hearth::simulation
