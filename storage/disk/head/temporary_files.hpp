// Files of a shard that do not have their final name yet. Their writer holds a lock on each, so
// that the file of a killed writer can be recognised and removed.
//
// Free functions; any thread.
#pragma once

#include "storage/disk/os/file_system.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace hearth::storage::disk {

inline constexpr std::string_view temporary_suffix = ".tmp";

/// A name that no other process uses: neither a process with the same process id in another
/// container, nor one that had this id before a power loss and left its file behind. `opening_id`:
/// the random number of this opened store.
std::string temporary_name(std::string_view what, std::uint64_t opening_id);

/// Removes the temporary files that no process has locked.
void remove_abandoned_files(file_system& system, int directory);

} // namespace hearth::storage::disk
