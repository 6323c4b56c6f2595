// How long a call on the cache handle may take, and how it is called off. Plain value.
#pragma once

#include <chrono>
#include <stop_token>

namespace hearth {

/// `cache.get(key, {.deadline = 50ms, .cancel = source.get_token()})`. A call that is ended by
/// either answers `timeout` or `cancelled`, once. The operation itself may still happen: an insert
/// that was sent is stored. A caller that waited for another caller's compile no longer gets the
/// lease.
struct call_options {
  std::chrono::milliseconds deadline{0}; ///< from the call on; zero: none
  std::stop_token cancel{};              ///< stopped: the call is called off
};

} // namespace hearth
