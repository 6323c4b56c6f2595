// The file `head` of a shard: opens it, makes it when it is missing, and maps it.
//
// Owner: a shard's files. One thread opens it; afterwards any thread may call it.
#pragma once

#include "messages/error.hpp"
#include "storage/disk/head/head.hpp"
#include "storage/disk/os/file_system.hpp"

#include <cstdint>
#include <filesystem>
#include <string>

namespace hearth::storage::disk {

class head_file {
public:
  /// `directory`: the shard's. `path`: its path, for messages. `opening_id`: see `temporary_name`.
  static expected<head_file> open(file_system& system, int directory,
                                  const std::filesystem::path& path, bool read_only,
                                  std::uint64_t opening_id);

  head_page page() const noexcept { return head_page(mapping_.data()); }
  /// 48 bits of the file's inode: a copied store has another.
  std::uint64_t inode() const noexcept { return inode_; }
  /// Opens the head once more, for locking. A mapping keeps the file description that it was made
  /// from alive, in a forked child too, and the description keeps a dead parent's lock.
  expected<file> open_for_lock() const;
  /// Whether the mapped file is still the one at its path, and was never cut.
  bool is_in_place() const noexcept;

private:
  head_file(file_system& system, int directory, std::string path)
      : system_(&system)
      , directory_(directory)
      , path_(std::move(path)) {}
  file open_file(int flags) const noexcept;
  expected<file> make(std::uint64_t opening_id) const;
  expected<void> map(const file& head, bool read_only);

  file_system* system_;
  int directory_;
  std::string path_;
  mapping mapping_;
  std::uint64_t inode_ = 0;
};

} // namespace hearth::storage::disk
