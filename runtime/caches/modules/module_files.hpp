// The folder `modules/` of a store: shared objects by content, private to the user, bounded. Any
// thread, any number of processes: a file appears atomically, and removing one does not affect
// processes that have loaded it.
#pragma once

#include "messages/artifact.hpp"
#include "messages/digest.hpp"
#include "messages/error.hpp"

#include <cstdint>
#include <filesystem>

namespace hearth {

/// Bytes that the folder may hold; above that the files written or used longest ago are removed.
inline constexpr std::uint64_t max_module_folder_bytes = std::uint64_t{1} << 30;

/// The folder of the modules of a store.
std::filesystem::path module_folder(const std::filesystem::path& store);

/// Returns the file with this content, and writes it if it is missing or damaged. Errors: those of
/// writing; `permission` for a folder that other users may write to.
expected<std::filesystem::path> write_module_file(const std::filesystem::path& folder,
                                                  const digest& content, const artifact& object);

/// Removes files, the oldest first, until at most `max_bytes` are left. Returns the number of bytes
/// removed.
std::uint64_t prune_modules(const std::filesystem::path& folder, std::uint64_t max_bytes);

} // namespace hearth
