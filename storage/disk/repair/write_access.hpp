// The access to the shard's lock for every part that writes: takes the lock and repairs the shard.
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

  /// Takes the lock and repairs the shard if necessary. Errors: `read_only`, `forked`, `busy` when
  /// another process holds the lock for too long, and the errors of the repair.
  expected<shard_lock_hold> lock();

private:
  shard_files& files_;
  recovery& recovery_;
};

} // namespace hearth::storage::disk
