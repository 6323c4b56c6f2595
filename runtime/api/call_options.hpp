// The deadline and the cancellation of a call on the cache handle, and how long what it stores
// lasts. Plain value.
#pragma once

#include "messages/visibility.hpp"

#include <chrono>
#include <optional>
#include <stop_token>
#include <utility>

namespace HEARTH_PUBLIC hearth {

/// `cache.get(key, call_options().within(50ms).stopped_by(source.get_token()))`. A call that either
/// of them ends returns `timeout` or `cancelled`, once. The operation itself may still happen: an
/// insert that was sent is stored. A caller that waited for another caller's compile no longer gets
/// the lease; its own compile callback is told to stop.
///
/// No aggregate: GCC 12 destroys an aggregate that is made within a `co_await` twice.
class call_options {
public:
  call_options() noexcept {}

  /// These options with a deadline, counted from the call. Zero or less is now: the call answers
  /// what it knows without waiting, such as a hit in memory or on disk, else `timeout`; nothing is
  /// sent. Without this, there is no deadline.
  [[nodiscard]] call_options within(std::chrono::milliseconds deadline) const {
    auto with = *this;
    with.deadline_ = deadline;
    return with;
  }
  /// These options with a token; a stop request of it cancels the call.
  [[nodiscard]] call_options stopped_by(std::stop_token token) const {
    auto with = *this;
    with.stop_ = std::move(token);
    return with;
  }

  /// These options with the time that the entry lasts which the call stores, in place of that of
  /// `cache_options::ttl`. Zero or less: that of the cache. For calls that store nothing it has no
  /// effect.
  [[nodiscard]] call_options with_ttl(std::chrono::milliseconds time) const {
    auto with = *this;
    with.ttl_ = time;
    return with;
  }

  const std::optional<std::chrono::milliseconds>& deadline() const noexcept { return deadline_; }
  const std::stop_token& stop() const noexcept { return stop_; }
  std::chrono::milliseconds ttl() const noexcept { return ttl_; }

private:
  std::optional<std::chrono::milliseconds> deadline_;
  std::stop_token stop_;
  std::chrono::milliseconds ttl_{0};
};

} // namespace hearth
