// A file that is made or replaced at once, from parts: written where nobody sees it, and put in
// place when it is whole. Owned by one thread.
#pragma once

#include "messages/error.hpp"
#include "runtime/os/files/descriptor.hpp"

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <sys/types.h>

namespace hearth::os {

/// Where the file system can, it has no name until `name_it`: what is killed before leaves nothing.
class pending_file {
public:
  /// Begins a file that will stand at `target`, whose folder is there. `mode` as for open(2).
  /// Errors: those of the system.
  static expected<pending_file> begin(const std::filesystem::path& target, mode_t mode = 0666);
  pending_file(pending_file&& other) noexcept;
  pending_file& operator=(pending_file&&) = delete;
  /// Discards what was not committed; what was there before stays.
  ~pending_file();

  expected<void> write(std::string_view bytes);
  /// Has what was written on disk when it returns.
  expected<void> sync();
  /// Puts it in place of what is there.
  expected<void> commit() { return commit_all({this, 1}); }
  /// Puts all in place: all of them or none when this process is killed meanwhile. An error is
  /// that of the first that cannot be; it, and those after it, are left as they were.
  static expected<void> commit_all(std::span<pending_file> files);

private:
  struct placing;

  pending_file(std::filesystem::path target, std::string temporary, descriptor file, bool named);

  std::filesystem::path target_;
  std::string temporary_;
  descriptor file_;
  bool is_named_;
};

} // namespace hearth::os
