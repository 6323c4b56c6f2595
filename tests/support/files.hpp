// Functions with which tests write and read files.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace hearth::test {

/// Returns the whole file; empty when there is none.
std::string file_text(const std::filesystem::path& path);
/// Creates or overwrites the file, and the folders of its path.
void write_text(const std::filesystem::path& path, std::string_view text);

} // namespace hearth::test
