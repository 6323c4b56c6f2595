// Opens the store for the maintenance commands, which never create one.
#pragma once

#include "runtime/api/config.hpp"
#include "runtime/cli/io/output.hpp"
#include "storage/disk/store.hpp"

#include <filesystem>
#include <memory>

namespace hearth::cli {

enum class store_use : std::uint8_t { look, change };

/// Whether no store can be at this path: the directory does not exist, or has no store in it.
bool has_no_store(const std::filesystem::path& directory);

/// Opens the existing store. `store_use::look` opens it read-only.
expected<std::unique_ptr<storage::store>> open_store(const config& settings, store_use use);

/// Reports that a store cannot be used; returns status 3 for every error.
status store_trouble(const error& why);

} // namespace hearth::cli
