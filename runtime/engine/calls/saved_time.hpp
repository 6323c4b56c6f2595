// The time that the hits of a cache handle saved, for the host's callback. Any thread.
#pragma once

#include "messages/cache_counters.hpp"
#include "messages/replies.hpp"
#include "runtime/api/future.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

namespace hearth::engine {

class saved_time {
public:
  using callback =
      std::function<void(std::chrono::nanoseconds saved, std::chrono::nanoseconds total)>;

  /// `counters`: of the cache.
  saved_time(callback told, std::shared_ptr<cache_counters> counters)
      : told_(std::move(told))
      , counters_(std::move(counters)) {}

  /// Adds the time that a hit on this artifact saved, if its metadata has one.
  void note(const artifact& hit);
  void note(const lookup& found) {
    if (found.hit()) note(found.value);
  }
  void note(const lookup_list& all) {
    for (const auto& found : all)
      if (found) note(*found);
  }

  std::chrono::nanoseconds total() const noexcept {
    return std::chrono::nanoseconds(total_ns_.load(std::memory_order_relaxed));
  }

private:
  const callback told_;
  const std::shared_ptr<cache_counters> counters_;
  std::atomic<std::int64_t> total_ns_{0};
};

/// Null: there is no callback, and hits are not examined.
using saved_time_ptr = std::shared_ptr<saved_time>;

template <class T>
void note_hits(const saved_time_ptr& saved, const T& found) {
  if (saved) [[unlikely]]
    saved->note(found);
}
template <class T>
void note_hits(const saved_time_ptr& saved, const expected<T>& found) {
  if (found) note_hits(saved, *found);
}

/// The same for a future.
template <class T>
future<T> noting_hits(const saved_time_ptr& saved, future<T> answer) {
  if (!saved) return answer;
  auto state = std::make_shared<completion_state<T>>();
  answer.then([saved, noted = completion<T>(state)](expected<T> result) {
    note_hits(saved, result);
    noted.deliver(std::move(result));
  });
  return future<T>(std::move(state));
}

} // namespace hearth::engine
