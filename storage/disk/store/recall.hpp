// Finds a store's description again from its other files, after the file `store` was lost.
//
// Used while a store is opened, by that thread.
#pragma once

#include "storage/disk/format.hpp"
#include "storage/disk/os/file_system.hpp"

#include <optional>

namespace hearth::storage::disk {

/// Sum of a description, which stands in it.
std::uint64_t sum_of(const store_description& d) noexcept;

/// Whether a description is whole and within the format's limits.
bool is_usable(const store_description& d) noexcept;

/// The description of the store in `folder`, as a head says it; when no head has whole words for
/// it, the store that most segments belong to, with as many shards as there are folders, and
/// `fresh`'s segment size or that of the largest segment. Nothing when no file tells.
std::optional<store_description> recall(file_system& files, const file& folder,
                                        const store_description& fresh);

} // namespace hearth::storage::disk
