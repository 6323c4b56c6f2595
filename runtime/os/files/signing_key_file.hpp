// Files of signing keys. Any thread.
#pragma once

#include "messages/error.hpp"
#include "storage/signing/signing.hpp"

#include <filesystem>

namespace hearth::os {

/// The keys of a file, at least one. Errors: those of reading; `malformed`, with file and line.
expected<storage::signing_keys> read_signing_keys(const std::filesystem::path& path);

} // namespace hearth::os
