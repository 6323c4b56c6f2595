// HEARTH_SIMULATION_SEEDS=N simulates N seeds instead of a few.
#include "runtime/simulation/simulator.hpp"

#include "runtime/simulation/history.hpp"

#include <doctest/doctest.h>

#include <cstdlib>

using namespace hearth::simulation;

namespace {

std::uint64_t seeds() {
  const char* text = std::getenv("HEARTH_SIMULATION_SEEDS");
  return text ? std::strtoull(text, nullptr, 10) : 25;
}

} // namespace

TEST_CASE("nothing is violated under random work and faults") {
  for (std::uint64_t seed = 1; seed <= seeds(); ++seed) {
    CAPTURE(seed);
    const auto result = simulate(seed, {});
    CHECK(result.violation == "");
    CHECK(result.questions > 100);
  }
}

TEST_CASE("one seed gives one trace") {
  simulation_options options;
  options.keep_trace = true;
  options.duration = std::chrono::seconds(20);
  const auto once = simulate(7, options);
  const auto again = simulate(7, options);
  CHECK(once.trace == again.trace);
  CHECK(once.trace_hash == again.trace_hash);
  CHECK(once.trace_hash != simulate(8, options).trace_hash);
}

TEST_CASE("a read finds the last acknowledged write or one that overlaps with it") {
  history past;
  const auto first = past.begin(1, "one", false);
  CHECK(past.judge_miss(2, 3) == "");
  CHECK(past.judge_hit("one", 2, 3) == "");
  past.succeed(first, 4);
  CHECK(past.judge_miss(4, 6) == "");
  CHECK(past.judge_miss(5, 6) != "");
  CHECK(past.judge_hit("two", 5, 6) != "");
  const auto second = past.begin(7, "two", false);
  CHECK(past.judge_hit("one", 8, 9) == "");
  past.succeed(second, 10);
  CHECK(past.judge_hit("one", 9, 12) == "");
  CHECK(past.judge_hit("one", 11, 12) != "");
  CHECK(past.judge_hit("two", 11, 12) == "");
}

TEST_CASE("an erase excuses a miss and a write without an answer excuses nothing else") {
  history past;
  past.succeed(past.begin(1, "one", false), 2);
  past.begin(3, "lost", false);
  CHECK(past.judge_miss(5, 6) != "");
  CHECK(past.judge_hit("lost", 5, 6) == "");
  past.succeed(past.begin(7, "", true), 8);
  CHECK(past.judge_miss(9, 10) == "");
  CHECK(past.judge_hit("one", 9, 10) != "");
}

TEST_CASE("a power loss makes uncertain what came after the last flush") {
  history past;
  past.succeed(past.begin(1, "flushed", false), 2);
  past.succeed(past.begin(3, "later", false), 4);
  past.lose_after(3);
  CHECK(past.judge_hit("flushed", 9, 10) == "");
  CHECK(past.judge_hit("later", 9, 10) == "");
  CHECK(past.judge_miss(9, 10) != "");
}
