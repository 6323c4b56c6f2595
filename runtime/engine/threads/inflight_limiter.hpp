// Bounds the requests in flight of all handles of a runtime, since CAF's mailboxes are unbounded.
// Any thread.
#pragma once

#include "messages/error.hpp"
#include "runtime/api/config.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>

namespace hearth::engine {

class inflight_limiter {
public:
  /// One request in flight. The slot is free again when this is given back or destroyed.
  class slot {
  public:
    /// An empty slot.
    slot() = default;
    explicit slot(std::shared_ptr<inflight_limiter> of)
        : of_(std::move(of)) {}
    slot(slot&&) noexcept = default;
    slot& operator=(slot&&) = delete;
    ~slot() { give_back(); }

    void give_back() noexcept {
      if (const auto of = std::exchange(of_, nullptr)) of->give_back();
    }

  private:
    std::shared_ptr<inflight_limiter> of_;
  };

  inflight_limiter(std::size_t max, overload_policy policy)
      : max_(max)
      , resume_at_(max - std::max<std::size_t>(1, max / 4))
      , policy_(policy) {}

  /// Takes a slot. Without a free one it waits or fails with `overloaded`, by the policy. A caller
  /// that must not wait (`may_wait` false) gets a slot above the bound.
  static expected<slot> take(const std::shared_ptr<inflight_limiter>& counter, bool may_wait) {
    if (!counter->try_take()) {
      if (counter->policy_ == overload_policy::refuse)
        return fail(errc::overloaded, std::to_string(counter->max_) +
                                          " requests are in flight already; wait for some, or "
                                          "allow more (max_inflight)");
      if (may_wait)
        counter->wait_for_slot();
      else
        counter->now_.fetch_add(1);
    }
    return slot(counter);
  }

private:
  bool try_take() noexcept {
    auto now = now_.load(std::memory_order_relaxed);
    while (now < max_)
      if (now_.compare_exchange_weak(now, now + 1)) return true;
    return false;
  }

  // Waiters are woken when a quarter of the slots is free, not for each slot: otherwise a thread
  // that asks faster than it is answered sleeps and wakes for every request. Slow requests may keep
  // a quarter from ever being free, so a waiter also polls.
  void wait_for_slot() {
    constexpr std::chrono::milliseconds look_again{1};
    std::unique_lock lock(mutex_);
    waiting_.fetch_add(1);
    while (!try_take())
      freed_.wait_for(lock, look_again);
    waiting_.fetch_sub(1);
  }

  void give_back() noexcept {
    const auto left = now_.fetch_sub(1) - 1;
    if (left != resume_at_ || waiting_.load() == 0) return;
    { const std::lock_guard lock(mutex_); }
    freed_.notify_all();
  }

  const std::size_t max_;
  const std::size_t resume_at_;
  const overload_policy policy_;
  std::atomic<std::size_t> now_{0};
  std::atomic<std::size_t> waiting_{0};
  std::mutex mutex_;
  std::condition_variable freed_;
};

} // namespace hearth::engine
