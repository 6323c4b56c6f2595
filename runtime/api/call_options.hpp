// How long a call on the cache handle may take, and how it is called off. Plain value.
#pragma once

#include <chrono>
#include <stop_token>

namespace hearth {

/// `cache.get(key, {.deadline = 50ms, .cancel = source.get_token()})`. A call that ends by either
/// answers `timeout` or `cancelled`, once; what it asked for may still happen: an insert that was
/// on its way is stored. Whoever waited for somebody else's compile is passed over.
struct call_options {
  std::chrono::milliseconds deadline{0}; ///< from the call on; zero: none
  std::stop_token cancel{};              ///< stopped: the call is called off
};

} // namespace hearth
