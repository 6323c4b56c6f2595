// Time, and work that several threads do at once.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace hearth::bench {

class stopwatch {
public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }

private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

/// Runs `work(thread)` in `threads` threads at once; each returns how many operations it did.
/// Returns the seconds an operation, of all threads together.
double seconds_an_operation(std::size_t threads,
                            const std::function<std::uint64_t(std::size_t thread)>& work);

} // namespace hearth::bench
