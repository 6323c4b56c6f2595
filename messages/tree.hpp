// Paths into a tree of values: maps of maps, as a tuning database nests them. Pure functions over
// plain values, any thread.
#pragma once

#include "messages/value.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hearth {

/// The names that lead to a value, from the root on. Empty: the root.
using tree_path = std::vector<std::string>;

/// Deepest path; a value below it may nest as deep again and stay within `max_value_depth`.
inline constexpr std::size_t max_path_parts = 32;

/// A path as a JSON pointer (RFC 6901): "/gemm/64~1128" is gemm, then 64/128; "" is the root.
std::string to_pointer(std::span<const std::string> path);
/// Errors: `malformed` (no slash in front, a ~ that is neither ~0 nor ~1), `too_large` (more than
/// `max_path_parts`).
expected<tree_path> parse_pointer(std::string_view pointer);

/// What stands at a path, or null.
const value* find_at(const value& tree, std::span<const std::string> path);
/// Puts a value at a path, in place of what stands there, and makes the maps that lead to it.
/// Errors: `invalid_argument`, and the tree is as it was, when the path leads through a value that
/// is no map, or when the root would be none.
expected<void> set_at(value& tree, std::span<const std::string> path, value v);

} // namespace hearth
