// The way to the shard's lock for every part that writes: the lock is taken, and the shard is put
// in order.
//
// Owner: a shard. Any thread.
#pragma once

#include "messages/error.hpp"
#include "storage/disk/repair/recovery.hpp"

namespace hearth::storage::disk {

class write_access {
public:
  write_access(shard_files& files, recovery& recovers) noexcept
      : files_(files)
      , recovery_(recovers) {}

  /// Takes the lock and puts the shard in order. Errors: `read_only`, `forked`, `busy` when another
  /// process holds the lock for too long, and what keeps the shard from being put in order.
  expected<shard_lock_hold> lock();

private:
  shard_files& files_;
  recovery& recovery_;
};

} // namespace hearth::storage::disk
