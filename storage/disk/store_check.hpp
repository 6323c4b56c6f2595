// Whether a store can be opened somewhere, without making it. Any thread.
#pragma once

#include "messages/error.hpp"

#include <filesystem>

namespace hearth::storage {

/// What `store::open` would refuse about this directory. Makes and changes nothing; a store that is
/// there is opened for reading. Errors: those of `store::open`; also for a directory that cannot be
/// made.
expected<void> check_store(const std::filesystem::path& directory);

} // namespace hearth::storage
