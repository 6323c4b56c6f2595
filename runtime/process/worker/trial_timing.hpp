// Measures how long one call of a kernel takes. For one thread.
#pragma once

#include <cstdint>

namespace hearth::worker {

/// A kernel and its arguments.
struct kernel_call {
  using entry_point = void(void* const* buffers, const std::int64_t* sizes);
  entry_point* entry = nullptr;
  void* const* buffers = nullptr;
  const std::int64_t* sizes = nullptr;

  /// Not noexcept, so that an exception of the kernel ends the process in the kernel's own C++
  /// runtime, whose last words name the exception.
  void operator()() const { entry(buffers, sizes); }
};

struct timing {
  std::int64_t time_ns = 0; ///< time of one call
  std::int64_t rounds = 0;
};

/// Nanoseconds of the monotonic clock that `calls` calls take.
std::int64_t time_calls(const kernel_call& call, std::int64_t calls);

/// Warms up, then times rounds of at least half a millisecond each for about `budget_ns`. The
/// result is the 10th percentile of the rounds, since a disturbance only makes a round slower. A
/// kernel so slow that its first call (`first_ns`) needs no warm-up is called only while the budget
/// lasts, and that call counts as a round.
timing time_kernel(const kernel_call& call, std::int64_t first_ns,
                   std::int64_t budget_ns = 100'000'000);

} // namespace hearth::worker
