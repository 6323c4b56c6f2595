// HEARTH_SIMULATION_SEEDS=N simulates N seeds instead of a few.
//
// trace_hashes.txt has the hash of the trace of each of the first seeds: the same in every build
// type and on every machine. An intended change of the messages between actors changes every hash;
// scripts/update-trace-hashes writes them again.
#include "runtime/simulation/simulator/simulator.hpp"

#include "runtime/simulation/history.hpp"
#include "runtime/simulation/member_history.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace simulator_test {

using namespace hearth::simulation;

namespace {

std::uint64_t seeds() {
  const char* text = std::getenv("HEARTH_SIMULATION_SEEDS");
  return text ? std::strtoull(text, nullptr, 10) : 25;
}

std::map<std::uint64_t, std::uint64_t> stored_hashes() {
  std::ifstream file(HEARTH_SOURCE_DIR "/tests/runtime/simulation/trace_hashes.txt");
  std::map<std::uint64_t, std::uint64_t> hashes;
  for (std::uint64_t seed = 0, hash = 0; file >> std::dec >> seed >> std::hex >> hash;)
    hashes[seed] = hash;
  return hashes;
}

// Blocks of all small sizes, with holes between them, which the next allocations fill in no order.
std::vector<std::unique_ptr<std::byte[]>> scattered_blocks() {
  std::vector<std::unique_ptr<std::byte[]>> kept, freed;
  for (std::size_t size = 8; size <= 2048; size += 8)
    for (int i = 0; i < 64; ++i) {
      kept.push_back(std::make_unique<std::byte[]>(size));
      freed.push_back(std::make_unique<std::byte[]>(size));
    }
  std::shuffle(freed.begin(), freed.end(), std::mt19937(1));
  for (auto& one : freed)
    one.reset();
  return kept;
}

} // namespace

TEST_CASE("random work and faults violate no rule, and every build has the same traces") {
  const auto hashes = stored_hashes();
  CHECK(hashes.size() == 25);
  for (std::uint64_t seed = 1; seed <= seeds(); ++seed) {
    CAPTURE(seed);
    const auto result = simulate(seed, {});
    CHECK(result.violation == "");
    CHECK(result.questions > 100);
    if (hashes.contains(seed)) CHECK(result.trace_hash == hashes.at(seed));
  }
}

TEST_CASE("a cluster in trouble violates no rule") {
  simulation_options options;
  options.has_cluster = true;
  options.keep_trace = true;
  std::map<std::string, int> seen{
      {"slots move", 0},      {"a replica is told to lead", 0}, {"a master is in trouble", 0},
      {"a replica leads", 0}, {"the cluster is split", 0},      {"the minority stops", 0}};
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    CAPTURE(seed);
    const auto result = simulate(seed, options);
    CHECK(result.violation == "");
    CHECK(result.questions > 100);
    for (auto& [what, count] : seen)
      count += static_cast<int>(std::count_if(result.trace.begin(), result.trace.end(),
                                              [&what = what](const std::string& line) {
                                                return line.find(what) != std::string::npos;
                                              }));
  }
  for (const auto& [what, count] : seen)
    CHECK_MESSAGE(count > 0, what);
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

TEST_CASE("where memory lies decides nothing") {
  simulation_options options;
  options.has_cluster = true;
  std::vector<std::uint64_t> hashes;
  for (std::uint64_t seed = 1; seed <= 12; ++seed)
    hashes.push_back(simulate(seed, options).trace_hash);
  const auto blocks = scattered_blocks();
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    CAPTURE(seed);
    CHECK(simulate(seed, options).trace_hash == hashes[seed - 1]);
  }
}

TEST_CASE("hosts without a server violate no rule") {
  simulation_options options;
  options.hosts = 3;
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    CAPTURE(seed);
    CHECK(simulate(seed, options).violation == "");
  }
}

TEST_CASE("a read returns the last acknowledged write or one that overlaps with it") {
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

TEST_CASE("a late fulfilment is delivered only to the waiters of its lease") {
  history past;
  const auto late = past.begin(3, "late", false);
  past.lend(late, 7);
  CHECK(past.judge_hit("late", 2, 8, true) == "");
  CHECK(past.judge_hit("late", 7, 8, true) == "");
  CHECK(past.judge_hit("late", 8, 9, true) != "");
  CHECK(past.judge_hit("late", 1, 2, true) != "");
  CHECK(past.judge_hit("late", 2, 8) != "");
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

TEST_CASE("a power loss makes the changes after the last flush uncertain") {
  history past;
  past.succeed(past.begin(1, "flushed", false), 2);
  past.succeed(past.begin(3, "later", false), 4);
  past.lose_after(3);
  CHECK(past.judge_hit("flushed", 9, 10) == "");
  CHECK(past.judge_hit("later", 9, 10) == "");
  CHECK(past.judge_miss(9, 10) != "");
}

TEST_CASE("what a host found of another host's member is replaced by its own later write") {
  member_history past;
  past.succeed(past.begin(1, "far", "q", "far"), 2, true);
  CHECK(past.judge_hit("near", "far", 3, 4) == "");
  CHECK(past.judge_hit("near", "none", 3, 4) != "");
  past.see("near", "far", 3, 4);
  past.succeed(past.begin(5, "near", "p", "own"), 6, true);
  CHECK(past.judge_hit("near", "far", 7, 8) != "");
  CHECK(past.judge_hit("near", "own", 7, 8) == "");
  CHECK(past.judge_miss("near", 7, 8) != "");
  CHECK(past.judge_miss("other", 7, 8) == "");
}

TEST_CASE(
    "of two hosts' writes the later one is that whose writer the server had told of the other") {
  const auto wrong_at_end = [](history::moment when, bool knew_fleet) {
    member_history past;
    past.succeed(past.begin(1, "h1", "p1", "first"), 2, true);
    past.reach_fleet("p1", when);
    past.succeed(past.begin(5, "h2", "p2", "second"), 6, knew_fleet);
    past.reach_fleet("p2", 9);
    CHECK(past.judge_hit_at_end("second") == "");
    CHECK(past.judge_miss_at_end() != "");
    return !past.judge_hit_at_end("first").empty();
  };
  CHECK(wrong_at_end(4, true));
  CHECK_FALSE(wrong_at_end(4, false));
  CHECK_FALSE(wrong_at_end(8, true));
}

} // namespace simulator_test
