// Files and trees of files as details of a key, by their content. Any thread.
//
// A process reads a file once while its size, times and identity stay the same.
#pragma once

#include "messages/key_field.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace hearth::fingerprints {

/// Maximum number of files in a tree.
inline constexpr std::size_t max_tree_files = 1'000'000;

/// A file's SHA-256 and size. Errors: `not_found`, `permission`, `io`; `unsupported` when it is not
/// a regular file; `busy` when a writer keeps changing it.
expected<file_field> field_of_file(const std::filesystem::path& path);

/// The files below a folder whose names end in one of `suffixes` (none: all), by their relative
/// paths with '/'. A link to a file counts as its target; links to folders are not followed. Uses
/// at most as many threads as there are cores. Errors: as above, of the first file by path, and
/// `too_large` above a million files.
expected<tree_field> field_of_tree(const std::filesystem::path& folder,
                                   const std::vector<std::string>& suffixes = {});

} // namespace hearth::fingerprints
