// The host's files in a scratch directory: a folder `root` of symbolic links, in which a path leads
// to the same file as on the host. Folders in which files are to be made are real, so that the
// files stay in the scratch directory. Any thread.
#pragma once

#include "messages/action.hpp"
#include "messages/error.hpp"

#include <filesystem>
#include <optional>
#include <string>

namespace hearth::process {

/// A folder above the view's own with more entries than this is hidden, except the path to the
/// view's.
inline constexpr std::size_t max_entries_above = 2000;

/// The overlay that takes the view's place, over its folder, with folders of `scratch` that are not
/// made yet. Nothing: a file is to be made outside of the folder, or behind a symbolic link.
std::optional<folder_cover> cover_of(const std::filesystem::path& scratch,
                                     const scratch_view& view);

/// Builds the view in `scratch`. Returns the name in there of the view's folder. A file that is
/// both shown and to be made is copied. Errors: those of the system.
expected<std::string> build_view(const std::filesystem::path& scratch, const scratch_view& view);

} // namespace hearth::process
