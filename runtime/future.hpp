// An answer that comes later. Waited for, given a callback, or awaited by a coroutine.
//
// One thread at a time uses a future. Its callback, and a coroutine that awaits it, go on at the
// thread that answers (an actor's, which they must not block) or at once when the answer is there.
#pragma once

#include "messages/completion.hpp"
#include "runtime/handle/blocking_region.hpp"

#include <chrono>
#include <coroutine>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

namespace hearth {

/// Holds a ready answer in place, without allocation, or the state it will be delivered to. A
/// future that is dropped is given up: nobody is told the answer, and who waited for somebody
/// else's compile is passed over.
template <class T>
class [[nodiscard]] future {
public:
  /// A ready one.
  future(expected<T> result)
      : ready_(std::move(result)) {}
  /// The same of a value that is there.
  future(T value)
      : ready_(std::in_place, tl::in_place, std::move(value)) {}
  explicit future(std::shared_ptr<completion_state<T>> state)
      : state_(std::move(state)) {}
  future(future&&) noexcept = default;
  future& operator=(future&& other) noexcept {
    give_up();
    ready_ = std::move(other.ready_);
    state_ = std::move(other.state_);
    return *this;
  }
  // Inline, so that a ready one that was moved from costs nothing.
  [[gnu::always_inline]] ~future() { give_up(); }

  /// Whether `get` returns at once.
  bool ready() const { return ready_.has_value() || (state_ && state_->ready()); }

  /// Waits for the answer and takes it. To be called once.
  [[gnu::always_inline]] expected<T> get() {
    if (!state_) return take();
    return wait();
  }

  /// The same, but `timeout` when the deadline passes first; the answer is given up then.
  expected<T> get_until(std::chrono::steady_clock::time_point deadline) {
    if (!state_) return take();
    const blocking_region waiting;
    return std::exchange(state_, nullptr)->wait_until(deadline);
  }
  expected<T> get_for(std::chrono::milliseconds time) {
    return get_until(std::chrono::steady_clock::now() + time);
  }

  /// Calls `next` with the answer. Instead of `get`.
  void then(std::function<void(expected<T>)> next) {
    if (state_)
      std::exchange(state_, nullptr)->then(std::move(next));
    else
      next(take());
  }

  /// What it will be delivered to; null when it is ready in place. For those who make futures.
  const std::shared_ptr<completion_state<T>>& state() const noexcept { return state_; }

  auto operator co_await() && { return awaiter{std::move(*this), std::nullopt}; }

private:
  [[gnu::noinline]] expected<T> wait() {
    const blocking_region waiting;
    return std::exchange(state_, nullptr)->wait();
  }

  struct awaiter {
    future source;
    std::optional<expected<T>> result;

    bool await_ready() const { return source.ready(); }
    void await_suspend(std::coroutine_handle<> waiting) {
      source.then([this, waiting](expected<T> answer) {
        result.emplace(std::move(answer));
        waiting.resume();
      });
    }
    expected<T> await_resume() { return result ? std::move(*result) : source.get(); }
  };

  [[gnu::always_inline]] expected<T> take() {
    if (!ready_) [[unlikely]]
      return taken_before();
    expected<T> result = std::move(*ready_);
    ready_.reset();
    return result;
  }
  [[gnu::cold, gnu::noinline]] static expected<T> taken_before() {
    return fail(errc::cancelled, "this answer was taken before");
  }
  [[gnu::always_inline]] void give_up() {
    if (state_) [[unlikely]]
      std::exchange(state_, nullptr)->give_up();
  }

  std::optional<expected<T>> ready_;
  std::shared_ptr<completion_state<T>> state_;
};

} // namespace hearth
