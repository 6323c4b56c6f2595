// Inductor's `.best_config` files: a tuning as a file of JSON. Any thread.
#pragma once

#include "messages/autotune/record.hpp"
#include "messages/visibility.hpp"
#include "storage/text/best_config_text.hpp"

#include <filesystem>
#include <string_view>

namespace HEARTH_PUBLIC hearth {

/// The ending of such a file's name; the rest is the name of the tuning.
inline constexpr std::string_view best_config_suffix = ".best_config";

/// Reads a file. Errors name the file: those of `parse_best_config` and of reading.
expected<autotune_record> read_best_config(const std::filesystem::path& file);
/// Creates or replaces the file atomically. Errors: those of `best_config_text` and of writing.
expected<void> write_best_config(const std::filesystem::path& file, const autotune_record& record);

} // namespace hearth
