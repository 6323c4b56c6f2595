// Counts wrong credentials by the peer's address, and says when an address has to wait. Of IPv6 the
// first 64 bits count: a host has the others to itself. Not for concurrent use; the time is passed
// in.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

namespace hearth::server {

class failure_limiter {
public:
  using time_point = std::chrono::steady_clock::time_point;

  static constexpr std::size_t max_failures = 10;
  static constexpr std::chrono::seconds period{60};
  /// Above it the address that failed first is forgotten.
  static constexpr std::size_t max_addresses = 4096;

  /// Notes a failure. The period of an address begins at its first failure.
  void note_failure(std::string_view address, time_point now);
  /// Whether the address has `max_failures` in a period that is not over.
  bool is_limited(std::string_view address, time_point now);

private:
  struct failures {
    time_point begin;
    std::size_t count = 0;
  };
  void forget_ended(time_point now);
  void forget_first();

  std::unordered_map<std::string, failures> of_;
  std::deque<std::string> order_; // the keys of `of_`, by the begin of their period
};

} // namespace hearth::server
