// Time, and work that several threads do at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <ctime>
#include <functional>

namespace hearth::bench {

/// Measures time on a clock on the wall or, when told so for the whole program, the time that
/// processors worked for it: that one is of use on a machine that others keep busy, although it
/// leaves out waiting and charges what is done in the background.
class stopwatch {
public:
  static void count_processor_time() noexcept { clock_ = CLOCK_PROCESS_CPUTIME_ID; }

  double seconds() const noexcept { return now() - begin_; }

private:
  static double now() noexcept {
    timespec time{};
    ::clock_gettime(clock_, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
  }
  static inline clockid_t clock_ = CLOCK_MONOTONIC;

  double begin_ = now();
};

/// Runs `work(thread)` in `threads` threads at once; each returns how many operations it did.
/// Returns the seconds an operation, of all threads together.
double seconds_an_operation(std::size_t threads,
                            const std::function<std::uint64_t(std::size_t thread)>& work);

} // namespace hearth::bench
