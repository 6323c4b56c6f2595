// The lock under which a shard is written: between threads of this process a mutex, between
// processes a `flock` on the head. Both are only tried, with pauses, up to a deadline: a process
// that is stopped while it holds the lock blocks another only until its deadline. A dead holder's
// lock is free.
//
// Owner: a shard. Any thread. In a forked child the descriptor is closed and the lock is not held.
#pragma once

#include "messages/error.hpp"
#include "storage/disk/os/fork_watch.hpp"

#include <chrono>
#include <mutex>
#include <utility>

namespace hearth::storage::disk {

class shard_lock {
public:
  shard_lock(file_system& files, file head)
      : files_(files)
      , head_(std::move(head)) {}

  /// False: the deadline passed.
  bool lock(std::chrono::milliseconds deadline) noexcept;
  void unlock() noexcept;
  /// The head's descriptor.
  int fd() const noexcept { return head_.get(); }

private:
  file_system& files_;
  std::mutex mutex_;
  unshared_file head_;
};

/// Holds a lock that was taken, and releases it when it goes out of scope.
class shard_lock_hold {
public:
  explicit shard_lock_hold(shard_lock& taken) noexcept
      : lock_(&taken) {}
  shard_lock_hold(shard_lock_hold&& other) noexcept
      : lock_(std::exchange(other.lock_, nullptr)) {}
  shard_lock_hold& operator=(shard_lock_hold&&) = delete;
  ~shard_lock_hold() { release(); }
  void release() noexcept {
    if (lock_) lock_->unlock();
    lock_ = nullptr;
  }

private:
  shard_lock* lock_;
};

/// Repeats `attempt`, with growing pauses, until it returns true or the deadline passes.
template <class Attempt>
bool retry_until(std::chrono::milliseconds deadline, Attempt attempt) noexcept;

/// The pause before try number `attempt` (from 0): a yield at first, then up to 2 ms.
void pause_before_retry(unsigned attempt) noexcept;

template <class Attempt>
bool retry_until(std::chrono::milliseconds deadline, Attempt attempt) noexcept {
  const auto end = std::chrono::steady_clock::now() + deadline;
  for (unsigned tries = 0;; ++tries) {
    if (attempt()) return true;
    if (std::chrono::steady_clock::now() >= end) return false;
    pause_before_retry(tries);
  }
}

} // namespace hearth::storage::disk
