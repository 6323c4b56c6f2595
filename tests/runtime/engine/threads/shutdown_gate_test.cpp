// The gate that a shutdown closes: which calls enter, and that no call loses an object in use.
#include "runtime/engine/threads/shutdown_gate.hpp"

#include "tests/support/waiting_thread.hpp"

#include <atomic>
#include <barrier>
#include <doctest/doctest.h>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

namespace shutdown_gate_test {

using namespace hearth;
using namespace hearth::engine;

TEST_CASE("a gate lets calls in until it is closed") {
  shutdown_gate gate;
  CHECK(gate.enter());
  gate.close();
  CHECK_FALSE(gate.enter());
  gate.close();
  CHECK_FALSE(gate.enter());
  gate.wait_until_empty();
}

TEST_CASE("a pass that was moved counts once") {
  shutdown_gate gate;
  auto first = gate.enter();
  REQUIRE(first);
  auto second = std::move(first);
  first.reset();
  gate.close();
  std::atomic<bool> was_inside{true};
  test::waiting_thread state;
  std::thread waiting([&] {
    state.waits_next();
    gate.wait_until_empty();
    CHECK_FALSE(was_inside);
  });
  CHECK(state.falls_asleep());
  was_inside = false;
  second.reset();
  waiting.join();
}

TEST_CASE("a call that has entered never sees the shutdown's destruction") {
  constexpr int rounds = 200, callers = 3;
  int calls_in_all = 0;
  for (int round = 0; round < rounds; ++round) {
    shutdown_gate gate;
    auto shared = std::make_unique<int>(1); // plain memory: ThreadSanitizer sees a late use
    std::barrier begin(callers + 1);
    std::atomic<int> sum{0}, calls{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < callers; ++i)
      threads.emplace_back([&] {
        begin.arrive_and_wait();
        while (const auto inside = gate.enter()) {
          sum += *shared;
          ++calls;
        }
      });
    begin.arrive_and_wait();
    while (round % 2 == 0 && calls == 0) // after a first call in every other round
      std::this_thread::yield();
    gate.close();
    gate.wait_until_empty();
    shared.reset();
    for (auto& thread : threads)
      thread.join();
    CHECK(sum == calls);
    calls_in_all += calls;
  }
  CHECK(calls_in_all >= rounds / 2);
}

} // namespace shutdown_gate_test
