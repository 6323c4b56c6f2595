// A file that is created or replaced atomically: written in parts where no other process sees it,
// and put in place when it is complete. Owned by one thread.
#pragma once

#include "messages/error.hpp"
#include "runtime/os/files/descriptor.hpp"
#include "runtime/os/files/replacement.hpp"

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <sys/types.h>

namespace hearth::os {

/// If the file system allows it, the file has no name until `commit`: a process that is killed
/// before leaves nothing behind.
class pending_file {
public:
  /// Begins a file that will be at `target`, whose folder exists. `mode` as for open(2). Errors:
  /// those of the system.
  static expected<pending_file> begin(const std::filesystem::path& target, mode_t mode = 0666);
  pending_file(pending_file&& other) noexcept;
  pending_file& operator=(pending_file&&) = delete;
  /// Discards a file that was not committed; an existing target stays.
  ~pending_file();

  expected<void> write(std::string_view bytes);
  /// Syncs the written bytes to disk.
  expected<void> sync();
  /// Renames the file to its target, in place of an existing one.
  expected<void> commit() { return commit_all({this, 1}); }
  /// Puts all files in place: all of them or none when this process is killed meanwhile. Errors:
  /// that of the first file that fails; its target and those of later files are unchanged.
  static expected<void> commit_all(std::span<pending_file> files,
                                   replacement how = replacement::in_one_step);

private:
  struct placing;

  pending_file(std::filesystem::path target, std::string temporary, descriptor file, bool named);

  std::filesystem::path target_;
  std::string temporary_;
  descriptor file_;
  bool is_named_;
};

} // namespace hearth::os
