// Keys of TOML files that are nested too deeply. Pure functions, any thread.
#pragma once

#include <cstddef>
#include <string_view>

namespace hearth {

/// The most parts of a key, as `a.b.c` has three. toml++ bounds the nesting of values by the same
/// number, but not that of keys: with tens of thousands of parts it exhausts the stack.
inline constexpr std::size_t max_toml_key_parts = 256;

/// The line, from 1, of the first key or table's name with more parts; 0: there is none. For any
/// bytes.
std::size_t line_of_deep_toml_key(std::string_view text);

} // namespace hearth
