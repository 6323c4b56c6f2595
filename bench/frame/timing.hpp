// Measures time, and the work of several threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <ctime>
#include <functional>

namespace hearth::bench {

/// Measures wall-clock time or, once `count_processor_time` was called, the processor time of this
/// program. Processor time is useful on a busy machine, although it leaves out waiting and includes
/// background work.
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

/// Runs `work(thread)` in `threads` threads at once; each returns its number of operations. Returns
/// the seconds an operation, over all threads together.
double seconds_an_operation(std::size_t threads,
                            const std::function<std::uint64_t(std::size_t thread)>& work);

} // namespace hearth::bench
