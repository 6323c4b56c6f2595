// The store's mark of how far its processes have read the log of a fleet's purges: the file `fleet`
// beside the shards, replaced as a whole. A mark that is lost, or older than what was read, costs
// that purges are applied twice; a mark is never newer than what was applied.
//
// Free functions; any thread and any process.
#pragma once

#include "messages/error.hpp"
#include "storage/disk/os/file_system.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace hearth::storage::disk {

/// Longest mark, bytes.
inline constexpr std::size_t max_fleet_mark_bytes = 4096;

/// The mark in this folder; empty when there is none, or none that can be read.
std::string read_fleet_mark(file_system& system, int folder);

/// Replaces the mark, in one step that survives a power loss as the old mark or the new one.
/// `opening_id`: the random number of this opened store. `path`: the folder, for errors.
expected<void> write_fleet_mark(file_system& system, int folder, std::uint64_t opening_id,
                                std::string_view mark, const std::filesystem::path& path);

} // namespace hearth::storage::disk
