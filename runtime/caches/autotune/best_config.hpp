// Inductor's `.best_config` files: a tuning as a file of JSON. Any thread.
#pragma once

#include "messages/autotune/record.hpp"

#include <filesystem>
#include <string>
#include <string_view>

namespace hearth {

/// How such a file's name ends; the rest is the tuning's name.
inline constexpr std::string_view best_config_suffix = ".best_config";

/// The file's text: one object of JSON with Inductor's fields. Errors: `invalid_argument` when an
/// argument has the name of another field.
expected<std::string> best_config_text(const autotune_record& record);
/// Errors: `malformed`, with line and column when it is no JSON, else with the field.
expected<autotune_record> parse_best_config(std::string_view text);

/// Errors name the file: those above, and what reading or writing it says.
expected<autotune_record> read_best_config(const std::filesystem::path& file);
/// Makes or replaces the file at once.
expected<void> write_best_config(const std::filesystem::path& file, const autotune_record& record);

} // namespace hearth
