// What a store's other files still tell of its description, after the file of that name was lost.
//
// Used while a store is opened, by that thread.
#pragma once

#include "storage/disk/file_system.hpp"
#include "storage/disk/format.hpp"

#include <optional>

namespace hearth::storage::disk {

/// Sum of a description, which stands in it.
std::uint64_t sum_of(const store_description& d) noexcept;

/// Whether a description is whole and within the format's limits.
bool is_usable(const store_description& d) noexcept;

/// The description of the store in `folder`: as a head has it whose words for it are whole; else
/// the store that most segments say they belong to, with as many shards as have a folder, and
/// `fresh`'s segment size or that of the largest segment. Nothing when no file tells.
std::optional<store_description> recall(file_system& files, const file& folder,
                                        const store_description& fresh);

} // namespace hearth::storage::disk
