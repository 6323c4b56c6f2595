// A folder that is filled under another name, then takes its place at once. Used by one thread.
#pragma once

#include "messages/error.hpp"

#include <filesystem>
#include <string_view>
#include <utility>

namespace hearth {

class temporary_folder {
public:
  /// A private folder beside `target`, on the same file system; folders above it are made.
  static expected<temporary_folder> beside(const std::filesystem::path& target);
  temporary_folder(temporary_folder&& other) noexcept
      : path_(std::exchange(other.path_, {})) {}
  temporary_folder& operator=(temporary_folder&&) = delete;
  /// Removes what has no other place.
  ~temporary_folder();

  const std::filesystem::path& path() const noexcept { return path_; }
  /// Renames it to `target`; what was there goes. Whether there was anything.
  expected<bool> put_in_place_of(const std::filesystem::path& target);

private:
  explicit temporary_folder(std::filesystem::path path)
      : path_(std::move(path)) {}
  std::filesystem::path path_;
};

/// Writes a file that is not there yet, for the user alone.
expected<void> write_new_file(const std::filesystem::path& path, std::string_view bytes,
                              bool is_program);

} // namespace hearth
