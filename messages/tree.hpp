// Paths into a tree of values: maps of maps, as in a tuning database. Pure functions over plain
// values, any thread.
#pragma once

#include "messages/value.hpp"
#include "messages/visibility.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace HEARTH_PUBLIC hearth {

/// The names from the root to a value. Empty: the root.
using tree_path = std::vector<std::string>;

/// The maximum length of a path. A value below it may be nested as deep again within
/// `max_value_depth`.
inline constexpr std::size_t max_path_parts = 32;

/// A path as a JSON pointer (RFC 6901): "/gemm/64~1128" is gemm, then 64/128; "" is the root.
std::string to_pointer(std::span<const std::string> path);
/// Errors: `malformed` (no slash in front, a ~ that is neither ~0 nor ~1), `too_large` (more than
/// `max_path_parts`).
expected<tree_path> parse_pointer(std::string_view pointer);

/// The value at a path, or null.
const value* find_at(const value& tree, std::span<const std::string> path);
/// Sets the value at a path, replaces an existing one, and makes the maps on the way. Errors:
/// `invalid_argument`, with the tree unchanged, if the path leads through a value that is not a
/// map, or the root would not be a map.
expected<void> set_at(value& tree, std::span<const std::string> path, value v);

} // namespace hearth
