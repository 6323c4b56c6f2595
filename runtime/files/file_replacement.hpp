// A file that is made or replaced at once, from parts: whoever opens it sees the old bytes or all
// of the new ones. Used by one thread.
#pragma once

#include "messages/error.hpp"
#include "runtime/process/descriptor.hpp"

#include <filesystem>
#include <string>
#include <string_view>

namespace hearth {

class file_replacement {
public:
  /// A temporary beside `path`, unique across processes. Errors: those of the system.
  static expected<file_replacement> begin(const std::filesystem::path& path);
  file_replacement(file_replacement&&) noexcept = default;
  file_replacement& operator=(file_replacement&&) = delete;
  /// Discards what was not committed; what was there before stays.
  ~file_replacement();

  expected<void> write(std::string_view bytes);
  /// Puts it in its place, on disk.
  expected<void> commit();

private:
  file_replacement(std::filesystem::path path, std::string temporary, descriptor file)
      : path_(std::move(path))
      , temporary_(std::move(temporary))
      , file_(std::move(file)) {}

  std::filesystem::path path_;
  std::string temporary_;
  descriptor file_; // none: it was committed, or moved from
};

} // namespace hearth
