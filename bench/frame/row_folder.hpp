// A folder that exists as long as its row runs, and small files. One thread.
#pragma once

#include <filesystem>
#include <string>

namespace hearth::bench {

class row_folder {
public:
  /// Makes the folder. Throws `std::filesystem::filesystem_error`.
  explicit row_folder(std::filesystem::path path);
  row_folder(const row_folder&) = delete;
  row_folder& operator=(const row_folder&) = delete;
  /// Removes the folder and all files in it.
  ~row_folder();

  const std::filesystem::path& path() const noexcept { return path_; }

private:
  std::filesystem::path path_;
};

/// Writes a file. Throws `std::runtime_error`.
void write_text(const std::filesystem::path& to, const std::string& text);
/// The whole file. Throws `std::runtime_error`.
std::string read_text(const std::filesystem::path& from);

} // namespace hearth::bench
