// The right to evict from a shard. One thread of all processes has it at a time; a thread that does
// not get it need not evict, since another one does.
//
// Owner: the stack of a thread that evicts; released when it goes out of scope.
#pragma once

#include "storage/disk/files/shard_files.hpp"

#include <mutex>

namespace hearth::storage::disk {

class eviction_right {
public:
  /// `mutex`: one a shard, for the threads of this process.
  eviction_right(shard_files& files, std::mutex& mutex) noexcept
      : files_(files)
      , mutex_(mutex) {}
  eviction_right(const eviction_right&) = delete;
  eviction_right& operator=(const eviction_right&) = delete;
  ~eviction_right();

  /// Takes the right, without waiting. False: another thread has it.
  bool take() noexcept;
  bool is_taken() const noexcept { return taken_; }

private:
  shard_files& files_;
  std::mutex& mutex_;
  bool taken_ = false;
};

} // namespace hearth::storage::disk
