// The state of one call of the handle: its answer, its in-flight slot and its cancellation.
#pragma once

#include "messages/completion.hpp"
#include "runtime/engine/threads/inflight_limiter.hpp"

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>

namespace hearth::engine {

/// The error of a cancelled call.
inline error called_off() { return {errc::cancelled, "the caller cancelled it"}; }

/// Frees the slot and the stop callback when the actor is done with the request. A caller that
/// gives up frees neither. Any thread.
template <class T>
class call_state final : public completion_state<T> {
public:
  /// A stop request of `cancel` cancels the call.
  static std::shared_ptr<completion_state<T>> begin(const std::stop_token& cancel,
                                                    inflight_limiter::slot place = {}) {
    auto made = std::make_shared<call_state>(std::move(place));
    if (cancel.stop_possible())
      made->on_stop_.emplace(cancel, [waiting = std::weak_ptr(made)] {
        if (const auto living = waiting.lock()) living->cancel(called_off());
      });
    return made;
  }

  explicit call_state(inflight_limiter::slot place)
      : place_(std::move(place)) {}

private:
  void end_request() noexcept override {
    if (has_ended_.test_and_set()) return;
    place_.give_back();
    on_stop_.reset();
  }

  std::atomic_flag has_ended_;
  inflight_limiter::slot place_;
  std::optional<std::stop_callback<std::function<void()>>> on_stop_;
};

} // namespace hearth::engine
