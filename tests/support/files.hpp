// Files as tests write and read them.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace hearth::test {

/// The whole file; empty when there is none.
std::string file_text(const std::filesystem::path& path);
/// Makes or overwrites the file, and the folders that lead to it.
void write_text(const std::filesystem::path& path, std::string_view text);

} // namespace hearth::test
