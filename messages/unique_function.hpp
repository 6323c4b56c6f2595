// A callable object that is moved, never copied: what a callback captures may be move-only.
#pragma once

#include "messages/visibility.hpp"

#include <cstddef>
#include <cstdlib>
#include <functional>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace HEARTH_PUBLIC hearth {

template <class Signature>
class unique_function;

/// Holds any callable with this signature, small ones without an allocation. Calling an empty one
/// throws std::bad_function_call (without exceptions it aborts). A call through a const object
/// calls the callable as non-const, as std::function does.
template <class R, class... Args>
class unique_function<R(Args...)> {
public:
  unique_function() noexcept = default;
  unique_function(std::nullptr_t) noexcept {}
  template <class F>
  requires(!std::is_same_v<std::remove_cvref_t<F>, unique_function> &&
           std::is_invocable_r_v<R, std::decay_t<F>&, Args...>) unique_function(F&& callable) {
    using held = std::decay_t<F>;
    if constexpr (std::is_pointer_v<held> || is_std_function<held>::value)
      if (const held& given = callable; !given) return;
    if constexpr (fits<held>) {
      ::new (static_cast<void*>(place_)) held(std::forward<F>(callable));
      operations_ = &in_place<held>;
    } else {
      ::new (static_cast<void*>(place_)) held*(new held(std::forward<F>(callable)));
      operations_ = &on_heap<held>;
    }
  }
  unique_function(unique_function&& other) noexcept { take_over(other); }
  unique_function& operator=(unique_function&& other) noexcept {
    if (this == &other) return *this;
    let_go();
    take_over(other);
    return *this;
  }
  ~unique_function() { let_go(); }

  explicit operator bool() const noexcept { return operations_ != nullptr; }

  R operator()(Args... args) const {
    if (!operations_) fail_empty();
    return operations_->call(place_, std::forward<Args>(args)...);
  }

private:
  [[noreturn]] static void fail_empty() {
#ifdef __cpp_exceptions
    throw std::bad_function_call();
#else
    std::abort();
#endif
  }

  struct operations {
    R (*call)(std::byte* place, Args&&... args);
    void (*move)(std::byte* from, std::byte* to) noexcept; // ends the object at `from`
    void (*destroy)(std::byte* place) noexcept;
  };

  template <class T>
  struct is_std_function : std::false_type {};
  template <class Signature>
  struct is_std_function<std::function<Signature>> : std::true_type {};

  static constexpr std::size_t place_bytes = 4 * sizeof(void*);
  template <class F>
  static constexpr bool
      fits = sizeof(F) <= place_bytes &&
             alignof(F) <= alignof(std::max_align_t) && std::is_nothrow_move_constructible_v<F>;

  template <class F>
  static F& at(std::byte* place) noexcept {
    return *std::launder(reinterpret_cast<F*>(place));
  }
  template <class F>
  static R invoke(F& callable, Args&&... args) {
    if constexpr (std::is_void_v<R>)
      static_cast<void>(std::invoke(callable, std::forward<Args>(args)...));
    else
      return std::invoke(callable, std::forward<Args>(args)...);
  }

  template <class F>
  static constexpr operations in_place{[](std::byte* place, Args&&... args) -> R {
                                         return invoke(at<F>(place), std::forward<Args>(args)...);
                                       },
                                       [](std::byte* from, std::byte* to) noexcept {
                                         ::new (static_cast<void*>(to)) F(std::move(at<F>(from)));
                                         at<F>(from).~F();
                                       },
                                       [](std::byte* place) noexcept { at<F>(place).~F(); }};

  template <class F>
  static constexpr operations on_heap{[](std::byte* place, Args&&... args) -> R {
                                        return invoke(*at<F*>(place), std::forward<Args>(args)...);
                                      },
                                      [](std::byte* from, std::byte* to) noexcept {
                                        ::new (static_cast<void*>(to)) F*(at<F*>(from));
                                      },
                                      [](std::byte* place) noexcept { delete at<F*>(place); }};

  void take_over(unique_function& other) noexcept {
    operations_ = std::exchange(other.operations_, nullptr);
    if (operations_) operations_->move(other.place_, place_);
  }
  void let_go() noexcept {
    if (const auto* const held = std::exchange(operations_, nullptr)) held->destroy(place_);
  }

  alignas(std::max_align_t) mutable std::byte place_[place_bytes];
  const operations* operations_ = nullptr; // null: empty
};

} // namespace hearth
