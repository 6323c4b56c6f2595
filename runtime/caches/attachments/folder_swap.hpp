// A folder that is filled under a temporary name and put in place by one rename. Used by one
// thread.
#pragma once

#include "messages/error.hpp"

#include <filesystem>
#include <string_view>
#include <utility>

namespace hearth {

class temporary_folder {
public:
  /// Creates a private folder beside `target`, on the same file system, and the folders above it.
  static expected<temporary_folder> beside(const std::filesystem::path& target);
  temporary_folder(temporary_folder&& other) noexcept
      : path_(std::exchange(other.path_, {})) {}
  temporary_folder& operator=(temporary_folder&&) = delete;
  /// Removes the folder that has the temporary name, if there is one.
  ~temporary_folder();

  const std::filesystem::path& path() const noexcept { return path_; }
  /// Renames it to `target`, in place of an existing folder. Returns whether there was one.
  expected<bool> put_in_place_of(const std::filesystem::path& target);

private:
  explicit temporary_folder(std::filesystem::path path)
      : path_(std::move(path)) {}
  std::filesystem::path path_;
};

/// Writes a new file that only the user can access; it must not exist. Errors: those of the system.
expected<void> write_new_file(const std::filesystem::path& path, std::string_view bytes,
                              bool is_program);

} // namespace hearth
