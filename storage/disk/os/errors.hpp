// The texts of the store's errors: the action, the place, the system's message, and what to do.
// Pure functions, any thread.
#pragma once

#include "messages/error.hpp"

#include <filesystem>
#include <string_view>

namespace hearth::storage::disk {

/// "cannot append to /x/000001.seg: No space left on device; free some space or lower the budget"
error system_error(int number, std::string_view action, const std::filesystem::path& where);

} // namespace hearth::storage::disk
