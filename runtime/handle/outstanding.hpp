// Bounds what all handles of a runtime have asked and not been answered yet: CAF's mailboxes grow
// without end. Any thread.
#pragma once

#include "messages/error.hpp"
#include "runtime/config.hpp"

#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>

namespace hearth {

class outstanding {
public:
  outstanding(std::size_t most, overload_policy policy)
      : most_(most)
      , policy_(policy) {}

  /// A ticket, which counts until its last copy is gone. Waits for one, or fails with
  /// `overloaded`, by the policy. `counter` is the same object as `this`, held by the ticket.
  static expected<std::shared_ptr<void>> take(const std::shared_ptr<outstanding>& counter) {
    {
      std::unique_lock lock(counter->mutex_);
      if (counter->now_ >= counter->most_ && counter->policy_ == overload_policy::refuse)
        return fail(errc::overloaded, std::to_string(counter->most_) +
                                          " requests are outstanding already; wait for some, or "
                                          "allow more (most_outstanding)");
      counter->freed_.wait(lock, [&] { return counter->now_ < counter->most_; });
      ++counter->now_;
    }
    return std::shared_ptr<void>(counter.get(), [counter](void*) { counter->give_back(); });
  }

private:
  void give_back() {
    {
      const std::lock_guard lock(mutex_);
      --now_;
    }
    freed_.notify_one();
  }

  const std::size_t most_;
  const overload_policy policy_;
  std::mutex mutex_;
  std::condition_variable freed_;
  std::size_t now_ = 0;
};

} // namespace hearth
