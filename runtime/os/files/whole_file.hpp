// Whole files: read, and replaced at once. Any thread.
#pragma once

#include "messages/error.hpp"

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace hearth::os {

/// The bytes of a regular file. Errors: `not_found`, `permission`, `io`, `too_large` above `most`,
/// `invalid_argument` for a directory or another thing that is no file.
expected<std::string> read_whole_file(const std::filesystem::path& path, std::size_t max_bytes);

/// Makes or replaces a file: whoever opens it sees the old bytes or the new ones, never a part, and
/// a failure leaves what was there and nothing else.
expected<void> replace_whole_file(const std::filesystem::path& path, std::string_view bytes);

} // namespace hearth::os
