// Reads properties of a machine from files of the system. Any thread.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace hearth::fingerprints {

/// The content of a file; empty if it cannot be read.
std::string text_of(const std::filesystem::path& path);
/// The text without blanks and quotes around it.
std::string_view trimmed_value(std::string_view text);
/// The value of the first line "name<separator>value"; empty without one.
std::string field_of(std::string_view text, std::string_view name, char separator);
/// What is in a folder, sorted; nothing if it cannot be read.
std::vector<std::filesystem::path> folders_in(const std::filesystem::path& folder);

} // namespace hearth::fingerprints
