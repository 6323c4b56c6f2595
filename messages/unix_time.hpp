// Real time, as expiries are written down in every tier. Any thread.
#pragma once

#include <chrono>
#include <cstdint>

namespace hearth {

/// Real time in ms since 1970: the system's clock, or a simulated one.
std::int64_t unix_time_ms() noexcept;

/// While one lives, it is the clock of this process: for tests and simulations. One at a time.
class simulated_unix_time {
public:
  explicit simulated_unix_time(std::int64_t start_ms) noexcept;
  simulated_unix_time(const simulated_unix_time&) = delete;
  simulated_unix_time& operator=(const simulated_unix_time&) = delete;
  ~simulated_unix_time();

  void advance(std::chrono::milliseconds by) noexcept;
};

} // namespace hearth
