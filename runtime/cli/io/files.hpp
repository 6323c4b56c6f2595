// Reads and writes the files of the command line.
#pragma once

#include "messages/error.hpp"

#include <string>
#include <string_view>

namespace hearth::cli {

/// The whole file, or stdin for "-"; also /dev/null and the names of open descriptors, /dev/stdin
/// and /dev/fd/N. Errors: `invalid_argument` when there is no such file, or it is anything else (a
/// directory, a FIFO, a device); `permission`, `io`, `too_large` (above 4 GiB).
expected<std::string> read_input(const std::string& path);

/// Replaces a file: writes a temporary file beside it, then renames it. A character device and an
/// open descriptor (/dev/stdout, /dev/fd/N) are written in place. Errors: `invalid_argument` for a
/// FIFO, a socket, a block device or a directory; those of writing.
expected<void> write_file(const std::string& path, std::string_view bytes);

} // namespace hearth::cli
