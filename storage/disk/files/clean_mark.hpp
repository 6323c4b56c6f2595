// The file `clean`: it states that all of a store is on disk and no process has written since, so
// that the index can be trusted after a restart of the machine.
//
// Owner: the store; shared by its shards. Any thread. A session removes it, durably, before its
// first write; the last process to close the store sets it.
#pragma once

#include "messages/error.hpp"
#include "storage/disk/os/file_system.hpp"

#include <atomic>
#include <filesystem>
#include <mutex>

namespace hearth::storage::disk {

class clean_mark {
public:
  clean_mark(file_system& files, int directory, std::filesystem::path path)
      : files_(files)
      , directory_(directory)
      , path_(std::move(path)) {}

  bool exists() const noexcept;
  /// Called before each write. The first call removes the mark, later calls do nothing.
  expected<void> remove_before_write();
  bool wrote() const noexcept { return wrote_.load(std::memory_order_acquire); }
  /// Makes the mark. The caller has synced everything, and no other process has the store open.
  expected<void> set();

private:
  file_system& files_;
  int directory_;
  std::filesystem::path path_;
  std::mutex mutex_;
  std::atomic<bool> wrote_{false};
};

} // namespace hearth::storage::disk
