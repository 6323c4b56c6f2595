// The result of an asynchronous call: a caller waits for it, passes a callback, or awaits it in a
// coroutine.
//
// One thread at a time uses a future. A callback or an awaiting coroutine runs at once if the
// answer is ready, else on the thread that delivers it: an actor's thread or the remote tier's
// connection thread. It must not block that thread, because the answer it would wait for may need
// that thread. Nor must it throw there: nobody could catch it.
#pragma once

#include "messages/completion.hpp"
#include "messages/unique_function.hpp"
#include "messages/visibility.hpp"
#include "runtime/api/blocking_region.hpp"

#include <chrono>
#include <coroutine>
#include <memory>
#include <optional>
#include <utility>
#include <variant>

namespace HEARTH_PUBLIC hearth {

/// Holds an answer in place, without allocation, or the state that the answer will be delivered to.
/// Destroying a future gives the answer up: nothing is delivered, and the caller no longer waits
/// for another caller's compile.
template <class T>
class [[nodiscard]] future {
public:
  using state_ptr = std::shared_ptr<completion_state<T>>;

  /// An empty future, to be assigned; its answer is the error `cancelled`.
  future() noexcept = default;
  /// A ready future.
  future(expected<T> result) { set_result(std::move(result)); }
  /// A ready future with a value.
  future(T value)
      : content_(std::in_place_index<held_value>, std::move(value)) {}
  /// A future whose answer is delivered to `state`, which is not null.
  explicit future(state_ptr state)
      : content_(std::in_place_index<held_state>, std::move(state)) {}
  // Inlined for a ready value, the performance-critical case; so are the functions below.
  [[gnu::always_inline]] future(future&& other) noexcept { take_over(other); }
  future& operator=(future&& other) noexcept {
    if (this == &other) return *this;
    let_go();
    take_over(other);
    return *this;
  }
  [[gnu::always_inline]] ~future() { let_go(); }

  /// Whether `get` returns at once.
  bool ready() const {
    const auto* const state = std::get_if<held_state>(&content_);
    return state ? (*state)->ready() : content_.index() != held_nothing;
  }

  /// Waits for the answer and moves it out. Call it once.
  [[gnu::always_inline]] expected<T> get() {
    if (auto* const value = std::get_if<held_value>(&content_)) [[likely]] {
      expected<T> result(tl::in_place, std::move(*value));
      content_.template emplace<held_nothing>();
      return result;
    }
    return wait();
  }

  /// The same, but returns `timeout` when the deadline passes first, and gives the answer up.
  expected<T> get_until(std::chrono::steady_clock::time_point deadline) {
    const auto state = take_state();
    if (!state) return take();
    const blocking_region waiting;
    return state->wait_until(deadline);
  }
  expected<T> get_for(std::chrono::milliseconds time) {
    return get_until(std::chrono::steady_clock::now() + time);
  }

  /// Calls `next` with the answer. Use it instead of `get`.
  void then(unique_function<void(expected<T>)> next) {
    if (const auto state = take_state())
      state->then(std::move(next));
    else
      next(take());
  }

  /// The state that the answer is delivered to; null when the future holds the answer itself. For
  /// code that makes futures.
  state_ptr state() const noexcept {
    const auto* const state = std::get_if<held_state>(&content_);
    return state ? *state : nullptr;
  }

  auto operator co_await() && { return awaiter(std::move(*this)); }

  /// To be awaited: the coroutine goes on where `executor` runs it. An executor is a callable that
  /// takes a `unique_function<void()>` and runs it once, on a thread of its choice:
  ///
  ///   co_await cache.get_async(key).via([&](auto go_on) { asio::post(io, std::move(go_on)); });
  ///
  /// It is called on the thread that delivers the answer, or on this one when the answer is ready;
  /// if it drops the function, the coroutine never goes on.
  template <class Executor>
  auto via(Executor executor) && {
    return via_awaiter<Executor>(std::move(*this), std::move(executor));
  }

private:
  // Positions in `content_`.
  static constexpr std::size_t held_nothing = 0, held_value = 1, held_error = 2, held_state = 3;

  // Classes with constructors: GCC 12 destroys an aggregate that is made within a `co_await` twice.
  class awaiter {
  public:
    explicit awaiter(future source)
        : source_(std::move(source)) {}
    bool await_ready() const { return source_.ready(); }
    void await_suspend(std::coroutine_handle<> waiting) {
      // The coroutine may end, and destroy this, before `then` returns.
      auto source = std::move(source_);
      source.then([this, waiting](expected<T> answer) {
        result_.emplace(std::move(answer));
        waiting.resume();
      });
    }
    expected<T> await_resume() { return result_ ? std::move(*result_) : source_.get(); }

  private:
    future source_;
    std::optional<expected<T>> result_;
  };

  template <class Executor>
  class via_awaiter {
  public:
    via_awaiter(future source, Executor executor)
        : source_(std::move(source))
        , executor_(std::move(executor)) {}
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> waiting) {
      auto source = std::move(source_);
      source.then([this, waiting](expected<T> answer) {
        result_.emplace(std::move(answer));
        // The coroutine may end, and destroy this, before the executor returns.
        auto executor = std::move(executor_);
        executor(unique_function<void()>([waiting] { waiting.resume(); }));
      });
    }
    expected<T> await_resume() { return std::move(*result_); }

  private:
    future source_;
    Executor executor_;
    std::optional<expected<T>> result_;
  };

  void set_result(expected<T>&& result) {
    if (result)
      content_.template emplace<held_value>(std::move(*result));
    else
      content_.template emplace<held_error>(std::move(result.error()));
  }

  // Precondition: this future holds nothing.
  [[gnu::always_inline]] void take_over(future& other) noexcept {
    if (auto* const value = std::get_if<held_value>(&other.content_)) [[likely]] {
      content_.template emplace<held_value>(std::move(*value));
      other.content_.template emplace<held_nothing>();
    } else if (other.content_.index() != held_nothing) {
      take_over_rest(other);
    }
  }
  [[gnu::noinline]] void take_over_rest(future& other) noexcept {
    content_ = std::exchange(other.content_, content());
  }

  [[gnu::always_inline]] void let_go() noexcept {
    if (std::holds_alternative<T>(content_))
      content_.template emplace<held_nothing>();
    else if (content_.index() != held_nothing) [[unlikely]]
      let_go_of_rest();
  }
  [[gnu::noinline]] void let_go_of_rest() noexcept {
    if (const auto state = take_state()) state->give_up();
    content_.template emplace<held_nothing>();
  }

  [[gnu::noinline]] expected<T> wait() {
    const auto state = take_state();
    if (!state) return take();
    const blocking_region waiting;
    return state->wait();
  }

  expected<T> take() {
    auto taken = std::exchange(content_, content());
    if (auto* const value = std::get_if<held_value>(&taken)) return std::move(*value);
    if (auto* const why = std::get_if<held_error>(&taken)) return fail(std::move(*why));
    return fail(errc::cancelled, "this answer was taken before");
  }
  state_ptr take_state() noexcept {
    auto* const state = std::get_if<held_state>(&content_);
    if (!state) return nullptr;
    auto taken = std::move(*state);
    content_.template emplace<held_nothing>();
    return taken;
  }

  using content = std::variant<std::monostate, T, error, state_ptr>;
  content content_;
};

} // namespace hearth
