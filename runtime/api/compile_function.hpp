// The callback that a host passes to `get_or_compile`.
#pragma once

#include "messages/artifact.hpp"
#include "messages/error.hpp"
#include "messages/unique_function.hpp"
#include "messages/visibility.hpp"

#include <stop_token>
#include <type_traits>
#include <utility>

namespace HEARTH_PUBLIC hearth {

/// Makes a missing value: any callable that returns `expected<T>`, or a `T`, and takes a
/// `std::stop_token` or nothing. It may be move-only. At most one call per key runs at a time, in
/// all processes that share the store; it may use the cache. An exception becomes
/// `compile_failed`.
///
/// The token stops when nobody wants the result any more: the deadline of the call passed, its
/// token was stopped, its future was destroyed, or the runtime shuts down. The caller has its
/// answer then, but the callback still runs until it returns: what it uses must live that long. A
/// callback that takes no token runs to its end; its result is stored. One that returns an error
/// after the stop leaves the compile to the next waiter. What the host registers with the token
/// (std::stop_callback) runs on the thread that gave up and must not block.
template <class T>
class compile_callback {
public:
  template <class F>
  requires(!std::is_same_v<std::remove_cvref_t<F>, compile_callback> &&
           (std::is_invocable_r_v<expected<T>, std::decay_t<F>&, const std::stop_token&> ||
            std::is_invocable_r_v<expected<T>, std::decay_t<F>&>)) compile_callback(F&& make) {
    if constexpr (std::is_invocable_r_v<expected<T>, std::decay_t<F>&, const std::stop_token&>)
      make_ = std::forward<F>(make);
    else
      make_ = [without_token = std::decay_t<F>(std::forward<F>(make))](
                  const std::stop_token&) mutable -> expected<T> { return without_token(); };
  }

  expected<T> operator()(const std::stop_token& stop) const { return make_(stop); }

private:
  unique_function<expected<T>(const std::stop_token&)> make_;
};

using compile_function = compile_callback<artifact>;

} // namespace hearth
