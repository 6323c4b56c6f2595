// The host's files in a scratch directory: a folder `root` in which a path leads where it leads on
// the host, by symbolic links, except where files are to be made: those folders are real ones, so
// that what a program makes there stays in the scratch directory. Any thread.
#pragma once

#include "messages/action.hpp"
#include "messages/error.hpp"

#include <filesystem>
#include <string>

namespace hearth::process {

/// Folders above the view's own that hold more than this are not shown but for what leads to it.
inline constexpr std::size_t max_entries_above = 2000;

/// Builds it in `scratch`; the name in there of what stands for the view's folder. A file that is
/// both shown and to be made is copied. Errors: those of the system.
expected<std::string> build_view(const std::filesystem::path& scratch, const scratch_view& view);

} // namespace hearth::process
