#include "runtime/process/worker/trial_timing.hpp"

#include <doctest/doctest.h>

namespace trial_timing_test {

using namespace hearth::worker;

namespace {

// Kernels that count how often they were called, in their first buffer.
void counts(void* const* buffers, const std::int64_t*) {
  ++*static_cast<std::int64_t*>(buffers[0]);
}

} // namespace

TEST_CASE("a quick kernel is timed in many rounds of many calls") {
  std::int64_t calls = 0;
  void* buffers[] = {&calls};
  const auto [time_ns, rounds] = time_kernel({counts, buffers, nullptr}, 1);
  CHECK(time_ns >= 1);
  CHECK(rounds >= 1);
  CHECK(calls > 10 * rounds);
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

TEST_CASE("as many calls are timed as were asked for") {
  std::int64_t calls = 0;
  void* buffers[] = {&calls};
  CHECK(time_calls({counts, buffers, nullptr}, 17) >= 0);
  CHECK(calls == 17);
}

} // namespace trial_timing_test
