// Mutual exclusion by key, across threads and processes: for an entry that is read, changed and put
// back. The caller's thread waits until the holder releases the lock.
#pragma once

#include "runtime/engine/core.hpp"

#include <caf/scoped_actor.hpp>

#include <memory>

namespace hearth::engine {

/// Held while the object lives; a process that dies loses it. A shutdown of the runtime waits for
/// it.
class key_lock {
public:
  /// Errors: `closed`, `forked`; those of the memory shard.
  static expected<key_lock> take(std::shared_ptr<runtime_core> core, const cache_key& at);

  key_lock(key_lock&&) = default;
  key_lock& operator=(key_lock&&) = delete;
  ~key_lock();

private:
  key_lock(std::shared_ptr<runtime_core> core, shutdown_gate::pass inside, cache_key at);

  std::shared_ptr<runtime_core> core_;
  shutdown_gate::pass inside_; // a shutdown waits until the lock is released
  cache_key at_;
  std::unique_ptr<caf::scoped_actor> self_; // the holder of the lease; null: moved from
  lease_id lease_ = 0;
};

} // namespace hearth::engine
