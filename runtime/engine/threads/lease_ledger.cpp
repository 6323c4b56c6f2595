#include "runtime/engine/threads/lease_ledger.hpp"

#include <atomic>

namespace hearth::engine {

lease_ledger::holder lease_ledger::this_thread() noexcept {
  static std::atomic<holder> last{0};
  thread_local const holder mine = ++last;
  return mine;
}

// Follows key -> its maker -> the key that the maker waits for, at most one step per waiting
// thread.
bool lease_ledger::leads_to(const cache_key& key, holder who) const {
  const cache_key* wanted = &key;
  for (std::size_t steps = 0; steps <= waits_.size(); ++steps) {
    const auto maker = held_.find(*wanted);
    if (maker == held_.end()) return false;
    if (maker->second == who) return true;
    const auto next = waits_.find(maker->second);
    if (next == waits_.end()) return false;
    wanted = &next->second;
  }
  return false;
}

bool lease_ledger::begin_wait(holder who, const cache_key& key) {
  const std::lock_guard lock(mutex_);
  if (leads_to(key, who)) return false;
  waits_.insert_or_assign(who, key);
  return true;
}

void lease_ledger::end_wait(holder who) {
  const std::lock_guard lock(mutex_);
  waits_.erase(who);
}

void lease_ledger::begin_hold(holder who, const cache_key& key) {
  const std::lock_guard lock(mutex_);
  held_.insert_or_assign(key, who);
  ++held_count_[who];
}

void lease_ledger::end_hold(holder who, const cache_key& key) {
  const std::lock_guard lock(mutex_);
  held_.erase(key);
  if (--held_count_[who] == 0) held_count_.erase(who);
}

bool lease_ledger::holds_any(holder who) const {
  const std::lock_guard lock(mutex_);
  return held_count_.contains(who);
}

} // namespace hearth::engine
