// Counters that a compile changes. A hit repeats the same changes, so that the figures do not
// depend on the cache.
#pragma once

#include "messages/visibility.hpp"

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

namespace HEARTH_PUBLIC hearth {

/// The change of each counter, by name. Plain value.
using counter_deltas = std::map<std::string, std::int64_t, std::less<>>;

/// Counters by name. Any thread.
class counter_set {
public:
  void add(std::string_view name, std::int64_t by = 1) {
    const std::lock_guard lock(mutex_);
    move(name, by);
  }
  /// Applies all changes at once: no reader sees a part of them.
  void apply(const counter_deltas& deltas) {
    const std::lock_guard lock(mutex_);
    for (const auto& [name, by] : deltas)
      move(name, by);
  }
  /// The counter's value; 0 if it never changed.
  std::int64_t value(std::string_view name) const {
    const std::lock_guard lock(mutex_);
    const auto at = values_.find(name);
    return at == values_.end() ? 0 : at->second;
  }
  counter_deltas all() const {
    const std::lock_guard lock(mutex_);
    return values_;
  }

private:
  // Wraps around instead of overflowing.
  void move(std::string_view name, std::int64_t by) {
    auto at = values_.find(name);
    if (at == values_.end()) at = values_.emplace(name, 0).first;
    at->second = static_cast<std::int64_t>(static_cast<std::uint64_t>(at->second) +
                                           static_cast<std::uint64_t>(by));
  }

  mutable std::mutex mutex_;
  counter_deltas values_;
};

} // namespace hearth
