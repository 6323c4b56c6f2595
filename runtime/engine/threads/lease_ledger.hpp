// Records which thread of this process makes which key and which key it waits for, so that a wait
// that could never end is refused. Any thread.
#pragma once

#include "messages/cache_key.hpp"

#include <cstdint>
#include <mutex>
#include <unordered_map>

namespace hearth::engine {

class lease_ledger {
public:
  using holder = std::uint64_t;

  /// The calling thread's number.
  static holder this_thread() noexcept;

  /// Notes that `who` is about to wait for `key`. Returns false, and notes nothing, when the maker
  /// of the key waits, directly or through other threads, for `who`.
  bool begin_wait(holder who, const cache_key& key);
  void end_wait(holder who);

  /// Notes that `who` makes `key`, until `end_hold`.
  void begin_hold(holder who, const cache_key& key);
  void end_hold(holder who, const cache_key& key);
  /// Whether `who` makes anything.
  bool holds_any(holder who) const;

private:
  bool leads_to(const cache_key& key, holder who) const;

  mutable std::mutex mutex_;
  std::unordered_map<cache_key, holder, cache_key_hash> held_;
  std::unordered_map<holder, std::size_t> held_count_;
  std::unordered_map<holder, cache_key> waits_;
};

} // namespace hearth::engine
