// The deadline and the cancellation of a call on the cache handle. Plain value.
#pragma once

#include <chrono>
#include <stop_token>

namespace hearth {

/// `cache.get(key, {.deadline = 50ms, .cancel = source.get_token()})`. A call that either of them
/// ends returns `timeout` or `cancelled`, once. The operation itself may still happen: an insert
/// that was sent is stored. A caller that waited for another caller's compile no longer gets the
/// lease.
struct call_options {
  std::chrono::milliseconds deadline{0}; ///< counted from the call; zero: no deadline
  std::stop_token cancel{};              ///< a stop request cancels the call
};

} // namespace hearth
