#include "runtime/process/worker/trial_timing.hpp"

#include <chrono>
#include <doctest/doctest.h>

namespace trial_timing_test {

using namespace hearth::worker;

namespace {

// Kernels that count their calls in their first buffer.
void counts(void* const* buffers, const std::int64_t*) {
  ++*static_cast<std::int64_t*>(buffers[0]);
}

// Counts its calls, and takes at least a tenth of a millisecond.
constexpr std::int64_t busy_ns = 100'000;
void is_busy(void* const* buffers, const std::int64_t* sizes) {
  counts(buffers, sizes);
  const auto until = std::chrono::steady_clock::now() + std::chrono::nanoseconds(busy_ns);
  while (std::chrono::steady_clock::now() < until) {
  }
}

} // namespace

TEST_CASE("a quick kernel is timed in many rounds of many calls") {
  std::int64_t calls = 0;
  void* buffers[] = {&calls};
  timing quick;
  const auto is_disturbed = [&] { return quick.rounds < 10 || calls <= 10 * quick.rounds; };
  for (int i = 0; i < 20 && is_disturbed(); ++i) { // another process may take most of the time
    calls = 0;
    quick = time_kernel({counts, buffers, nullptr}, 1);
  }
  CHECK(quick.time_ns >= 1);
  CHECK(quick.rounds >= 10);
  CHECK(calls > 10 * quick.rounds);
  // The reported time is of one call; a round of many calls takes half a millisecond and more.
  CHECK(quick.time_ns < 500'000 / 10);
  CHECK(time_kernel({is_busy, buffers, nullptr}, 1).time_ns >= busy_ns);
}

TEST_CASE("a kernel whose first call took all of the time is not called again") {
  std::int64_t calls = 0;
  void* buffers[] = {&calls};
  const auto [time_ns, rounds] = time_kernel({counts, buffers, nullptr}, 5'000'000'000);
  CHECK(time_ns == 5'000'000'000);
  CHECK(rounds == 1);
  CHECK(calls == 0);
}

TEST_CASE("a kernel whose first call took half of the time is called once more") {
  std::int64_t calls = 0;
  void* buffers[] = {&calls};
  const auto [time_ns, rounds] = time_kernel({counts, buffers, nullptr}, 50'000'000);
  CHECK(calls == 1);
  CHECK(rounds == 2);
  CHECK(time_ns < 50'000'000);
}

TEST_CASE("the requested number of calls is timed") {
  std::int64_t calls = 0;
  void* buffers[] = {&calls};
  CHECK(time_calls({is_busy, buffers, nullptr}, 17) >= 17 * busy_ns);
  CHECK(calls == 17);
}

} // namespace trial_timing_test
