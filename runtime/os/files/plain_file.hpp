// Opens the files that a user names without waiting for the other end of a FIFO or for a device.
// A path that is no regular file is refused by what it is. Any thread.
#pragma once

#include "messages/error.hpp"
#include "runtime/os/files/descriptor.hpp"

#include <filesystem>
#include <sys/stat.h>

namespace hearth::os {

/// Nothing for a regular file. Errors: `invalid_argument`, for anything else: the text says what
/// it is.
expected<void> check_regular(const std::filesystem::path& path, mode_t mode);

/// The error of an open(2) of `path` that just failed with `errno`. A socket cannot be opened: the
/// error says that it is one.
error cannot_open(const std::filesystem::path& path);

/// Opens a regular file for reading; `flags` are further ones of open(2), as O_NOFOLLOW. Errors:
/// those of `check_regular`; `not_found`, `permission`, `too_many_files`, `io`.
expected<descriptor> open_regular(const std::filesystem::path& path, int flags = 0);

/// Opens the input of a command: a regular file, /dev/null, or a descriptor that the process has
/// already, by the names /dev/stdin and /dev/fd/N (in which shells pass pipes). Errors: those of
/// `open_regular`.
expected<descriptor> open_input(const std::filesystem::path& path);

/// Opens what can only be written in place: a character device like /dev/null, or a descriptor
/// that the process has already, by the names /dev/stdout, /dev/stderr and /dev/fd/N. Returns an
/// empty descriptor when there is a regular file or none: such a file is replaced. Errors: those
/// of `open_regular`; a FIFO, a socket, a block device or a directory is `invalid_argument`.
expected<descriptor> open_in_place(const std::filesystem::path& path);

/// Nothing when a file can be made or replaced at `path`: there is none, a regular file or a
/// symbolic link, which is replaced itself. Errors: `invalid_argument` for anything else.
expected<void> check_replaceable(const std::filesystem::path& path);

} // namespace hearth::os
