// The store for the commands that look after it: it is never made by them.
#pragma once

#include "runtime/api/config.hpp"
#include "runtime/cli/io/output.hpp"
#include "storage/disk/store.hpp"

#include <filesystem>
#include <memory>

namespace hearth::cli {

enum class store_use : std::uint8_t { look, change };

/// Whether there is nothing at this place that could be a store: no directory, or one without a
/// store in it.
bool has_no_store(const std::filesystem::path& directory);

/// The store that is there. Looking changes nothing in it.
expected<std::unique_ptr<storage::store>> open_store(const config& settings, store_use use);

/// Says that a store cannot be used, whatever the reason: status 3.
status store_trouble(const error& why);

} // namespace hearth::cli
