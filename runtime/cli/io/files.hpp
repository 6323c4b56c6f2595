// Reads and writes the files of the command line.
#pragma once

#include "messages/error.hpp"

#include <string>
#include <string_view>

namespace hearth::cli {

/// The whole file, or stdin for "-". Errors: `invalid_argument` when there is no such file or it
/// is a directory; `permission`, `io`, `too_large` (above 4 GiB).
expected<std::string> read_input(const std::string& path);

/// Replaces a file: writes a temporary file beside it, then renames it. A path that is not a
/// regular file (a device, a pipe) is written in place.
expected<void> write_file(const std::string& path, std::string_view bytes);

} // namespace hearth::cli
