// The result of a request by a caller that is not an actor. The caller keeps the
// `completion_state`; the message carries the `completion`.
//
// Any thread may deliver, wait, or give up. Exactly one delivery is accepted. If the last
// completion is destroyed without one (the actor died, the message was dropped), the caller gets
// `closed`.
#pragma once

#include "messages/error.hpp"
#include "messages/unique_function.hpp"
#include "messages/visibility.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

namespace HEARTH_PUBLIC hearth {

template <class T>
class completion;

/// State shared by both ends. A result is delivered at most once, and never after `give_up`.
template <class T>
class completion_state {
public:
  using callback = unique_function<void(expected<T>)>;
  using notice = unique_function<void()>;

  completion_state() = default;
  completion_state(const completion_state&) = delete;
  completion_state& operator=(const completion_state&) = delete;
  virtual ~completion_state() = default;

  /// Delivers the result. Returns false and drops the result if the caller gave up or a result was
  /// delivered before.
  bool deliver(expected<T> result) {
    callback next;
    notice not_needed;
    {
      const std::lock_guard lock(mutex_);
      if (phase_ != phase::open) return false;
      phase_ = phase::delivered;
      not_needed = std::exchange(on_give_up_, {});
      next = std::move(callback_);
      if (!next) result_ = std::move(result);
    }
    if (next)
      next(std::move(result));
    else
      changed_.notify_all();
    return true;
  }

  bool ready() const noexcept { return phase_ != phase::open; }

  /// Whether a delivery would be accepted.
  bool wanted() const noexcept { return !ready(); }

  /// Waits for the result and takes it. If the deadline passes first, returns `timeout` and refuses
  /// later deliveries.
  expected<T> wait_until(std::chrono::steady_clock::time_point deadline) {
    std::unique_lock lock(mutex_);
    const bool came = changed_.wait_until(lock, deadline, [this] { return phase_ != phase::open; });
    if (came) return take();
    end_unanswered(lock);
    return fail(past_deadline());
  }

  expected<T> wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return phase_ != phase::open; });
    return take();
  }

  /// Calls `next` with the result, on the thread that delivers it; at once if the result has come
  /// already.
  void then(callback next) {
    std::optional<expected<T>> result;
    {
      const std::lock_guard lock(mutex_);
      if (phase_ == phase::open) {
        callback_ = std::move(next);
        return;
      }
      result.emplace(take());
    }
    next(std::move(*result));
  }

  /// Refuses a later delivery. Has no effect once a callback is set.
  void give_up() {
    std::unique_lock lock(mutex_);
    if (phase_ == phase::open && !callback_) end_unanswered(lock);
  }

  /// Ends the wait with `why` instead of an answer. Returns false if the answer came before.
  bool cancel(const error& why) {
    notice gone_up;
    {
      const std::lock_guard lock(mutex_);
      if (phase_ == phase::open) gone_up = std::exchange(on_give_up_, {});
    }
    if (!deliver(fail(why))) return false;
    if (gone_up) gone_up();
    return true;
  }

  /// `next` is called once if the wait ends without an answer: the deadline passed, the request was
  /// cancelled, or the last future was destroyed. It runs on the thread on which that happens.
  void on_give_up(notice next) {
    const std::lock_guard lock(mutex_);
    on_give_up_ = std::move(next);
  }

  static error past_deadline() {
    return {errc::timeout, "the deadline passed before the answer came"};
  }

protected:
  /// The actor is done with the request: it has answered, or every completion is gone. Called
  /// before the caller is told, from any thread, possibly more than once.
  virtual void end_request() noexcept {}

private:
  friend class completion<T>;
  enum class phase : std::uint8_t { open, delivered, given_up };

  expected<T> take() {
    if (!result_) return fail(errc::cancelled, "the answer was given up, or was taken already");
    auto result = std::move(*result_);
    result_.reset();
    return result;
  }

  void end_unanswered(std::unique_lock<std::mutex>& lock) {
    phase_ = phase::given_up;
    const auto next = std::exchange(on_give_up_, {});
    lock.unlock();
    if (next) next();
  }

  // A delivery by the actor.
  bool answer(expected<T> result) {
    end_request();
    return deliver(std::move(result));
  }

  // The completions keep the state alive.
  void begin(std::shared_ptr<completion_state> self) {
    self_ = std::move(self);
    completions_.store(1, std::memory_order_relaxed);
  }
  void add_completion() noexcept { completions_.fetch_add(1, std::memory_order_relaxed); }
  void drop_completion() {
    if (completions_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    const auto self = std::exchange(self_, nullptr);
    end_request();
    if (wanted()) deliver(fail(errc::closed, "the runtime shut down before it answered"));
  }

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::atomic<phase> phase_ = phase::open; // changes under the mutex
  std::optional<expected<T>> result_;
  callback callback_;
  notice on_give_up_;
  std::atomic<std::uint32_t> completions_{0};
  std::shared_ptr<completion_state> self_; // set while there are completions
};

/// The actor's end, which the message carries. Copies share one delivery.
template <class T>
class completion {
public:
  completion() = default;
  /// The first completion of `state`; all others are copies of it.
  explicit completion(std::shared_ptr<completion_state<T>> state)
      : state_(state.get()) {
    state_->begin(std::move(state));
  }
  completion(const completion& other) noexcept
      : state_(other.state_) {
    if (state_) state_->add_completion();
  }
  completion(completion&& other) noexcept
      : state_(std::exchange(other.state_, nullptr)) {}
  completion& operator=(completion other) noexcept {
    std::swap(state_, other.state_);
    return *this;
  }
  ~completion() {
    if (state_) state_->drop_completion();
  }

  /// Returns false if the caller no longer waits; the result must then go to another waiter.
  bool deliver(expected<T> result) const { return state_ && state_->answer(std::move(result)); }
  /// Whether the caller still waits.
  bool wanted() const noexcept { return state_ && state_->wanted(); }

private:
  completion_state<T>* state_ = nullptr;
};

} // namespace hearth
