// Reconstructs a store's description from its other files, after the file `store` was lost.
//
// Used only while a store is opened, by the thread that opens it.
#pragma once

#include "storage/disk/format.hpp"
#include "storage/disk/os/file_system.hpp"

#include <optional>

namespace hearth::storage::disk {

/// The checksum of a description, for its field `sum`.
std::uint64_t sum_of(const store_description& d) noexcept;

/// Whether a description is whole and within the format's limits.
bool is_usable(const store_description& d) noexcept;

/// The description of the store in `folder`, from a head; when no head has whole words for it, that
/// of the store that most segments belong to, with as many shards as there are folders, and the
/// larger of `fresh`'s segment size and that of the largest segment. Nothing when no file has it.
std::optional<store_description> recover_description(file_system& files, const file& folder,
                                                     const store_description& fresh);

} // namespace hearth::storage::disk
