// Reads whole files, and replaces them atomically. Any thread.
#pragma once

#include "messages/error.hpp"
#include "runtime/os/files/descriptor.hpp"

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace hearth::os {

/// The bytes of a regular file. Errors: `not_found`, `permission`, `io`, `too_large` above
/// `max_bytes`, `invalid_argument` for a directory or anything else that is no regular file.
expected<std::string> read_whole_file(const std::filesystem::path& path, std::size_t max_bytes);

/// The bytes from the file's position to its end; `path` names it in errors. Errors: `io`,
/// `too_large` above `max_bytes`.
expected<std::string> read_rest(const descriptor& file, const std::filesystem::path& path,
                                std::size_t max_bytes);

/// Creates or replaces a file: a reader sees the old bytes or the new ones, never a part, and a
/// failure leaves the old file and nothing else.
expected<void> replace_whole_file(const std::filesystem::path& path, std::string_view bytes);

} // namespace hearth::os
