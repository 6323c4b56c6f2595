// Variables that list folders in which a compiler searches. Pure functions; any thread.
#pragma once

#include <string>
#include <string_view>

namespace hearth::fingerprints {

/// Whether the variable of this name is a list of folders for GCC and Clang, in which an empty
/// entry is the current folder: CPATH, C_INCLUDE_PATH and its like, LIBRARY_PATH, COMPILER_PATH
/// (GCC's manual, "Environment Variables Affecting GCC").
bool is_search_path(std::string_view name) noexcept;

/// The list as a key has it: an empty entry is written `.`, and of equal entries the first stays,
/// since a compiler that finds nothing in a folder finds nothing there the second time. The order
/// stays. An empty list stays empty: GCC takes it for no folder in CPATH, and for the current one
/// in LIBRARY_PATH.
std::string normal_search_path(std::string_view list);

} // namespace hearth::fingerprints
