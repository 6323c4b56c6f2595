// The memory tier in a whole runtime: the memory use it reports, its budget under load, its
// threads.
#include "tests/support/allocated_bytes.hpp"
#include "tests/support/runtimes.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <set>
#include <string>
#include <thread>

namespace memory_test {

using namespace hearth;
using namespace hearth::test;

namespace {

// The bytes that inserting takes, by the allocator and by the runtime's own count.
void compare(std::size_t payload_bytes, int count) {
  auto settings = in_memory();
  settings.memory_budget_bytes = std::uint64_t{1} << 30;
  runtime rt(settings);
  const auto cache = rt.open("c").value();
  CHECK(cache.insert("warm", artifact::make("x")));
  const auto told_before = rt.stats().bytes_used;
  const auto taken_before = allocated_bytes();
  for (int i = 0; i < count; ++i)
    CHECK(cache.insert(key::tuple({"a kernel of some name", key::integer(i)}),
                       artifact::make(std::string(payload_bytes, 'x'))));
  const auto told = double(rt.stats().bytes_used - told_before);
  const auto taken = double(allocated_bytes() - taken_before);
  MESSAGE(allocator_name(), ", ", payload_bytes, " B: told ", told, " taken ", taken, " ratio ",
          told / taken);
  CHECK(told >= 0.95 * taken);
  CHECK(told <= 1.05 * taken);
}

// The numbers of this process's threads. A thread may be listed for a moment after it was joined.
std::set<std::string> threads_now() {
  std::set<std::string> numbers;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task"))
    numbers.insert(task.path().filename());
  return numbers;
}

// The number of threads that begin with a runtime of these settings. Threads of the previous
// runtime may still be ending; they never count as new.
std::size_t threads_of(const config& settings) {
  const auto before = threads_now();
  const runtime rt(settings);
  const auto now = threads_now();
  return static_cast<std::size_t>(
      std::ranges::count_if(now, [&](const auto& number) { return !before.contains(number); }));
}

} // namespace

TEST_CASE("memory used equals the allocator's figure through the whole runtime") {
  compare(4096, 4000);
  compare(64u << 10, 500);
  compare(1u << 20, 40);
}

TEST_CASE("readers and writers of many threads stay within the budget and see whole values") {
  // HEARTH_TORTURE_SECONDS=60 runs the long form.
  const auto* const seconds = std::getenv("HEARTH_TORTURE_SECONDS");
  const auto end = std::chrono::steady_clock::now() +
                   std::chrono::milliseconds(seconds ? 1000 * std::atoi(seconds) : 300);
  auto settings = in_memory();
  settings.memory_budget_bytes = 4u << 20;
  settings.memory_shards = 2;
  runtime rt(settings);
  const auto cache = rt.open("c").value();
  std::atomic<std::uint64_t> wrong{0}, hits{0};
  const auto payload_of = [](std::uint64_t number, std::size_t size) {
    return std::string(16 + size, static_cast<char>('a' + number % 26));
  };
  const auto work = [&](std::uint64_t seed) {
    constexpr int least_rounds = 20; // enough to evict on a slow machine too
    std::mt19937_64 random(seed);
    for (int round = 0; round < least_rounds || std::chrono::steady_clock::now() < end; ++round)
      for (int i = 0; i < 200; ++i) {
        const auto number = random() % 5000;
        const auto k = key::integer(static_cast<std::int64_t>(number));
        switch (random() % 8) {
        case 0: wrong += !cache.put(k, artifact::make(payload_of(number, random() % 8000))); break;
        case 1: wrong += !cache.erase(k); break;
        case 2:
          wrong += !cache.insert(k, artifact::make(payload_of(number, random() % 8000)));
          break;
        default:
          if (const auto found = cache.get(k); found && found->hit()) {
            ++hits;
            const auto bytes = found->value.payload();
            wrong += bytes.find_first_not_of(bytes[0]) != std::string_view::npos ||
                     bytes[0] != static_cast<char>('a' + number % 26);
          }
        }
      }
  };
  {
    std::vector<std::jthread> threads;
    for (std::uint64_t t = 1; t <= 3; ++t)
      threads.emplace_back([&, t] { work(t); });
    while (std::chrono::steady_clock::now() < end) {
      const auto stats = rt.stats();
      wrong += stats.bytes_used > stats.budget_bytes;
    }
  }
  CHECK(wrong == 0);
  CHECK(hits > 0);
  CHECK(rt.stats().evicted > 0);
}

TEST_CASE("the number of threads is the one that the configuration says") {
  config few;
  few.jobs = 1;
  few.scheduler_threads = 2;
  few.memory_shards = 1;
  static_cast<void>(threads_of(few)); // starts the threads that a process starts once
  const auto base = threads_of(few);
  CHECK(base >= 2);
  auto more = few;
  more.scheduler_threads = 5;
  CHECK(threads_of(more) == base + 3);
  more = few;
  more.jobs = 4;
  CHECK(threads_of(more) == base + 3);
  more = few;
  more.memory_shards = 8; // shards are actors of the pool, not threads
  CHECK(threads_of(more) == base);
}

TEST_CASE_FIXTURE(on_disk, "hits and misses are counted by tier") {
  {
    runtime rt(settings());
    CHECK(rt.open("c")->insert("k", artifact::make("v")));
  }
  runtime rt(settings());
  const auto cache = rt.open("c").value();
  CHECK(cache.get("k")->from == tier::disk);
  CHECK_FALSE(cache.get("x")->hit());
  CHECK(*cache.insert("y", artifact::make("v")) == insert_outcome::inserted);
  while (rt.stats().promotions == 0)
    std::this_thread::yield();
  CHECK(cache.get("k")->from == tier::memory);
  const auto stats = rt.stats();
  CHECK(stats.memory.hits == 1);
  CHECK(stats.memory.misses == 2);
  CHECK(stats.disk.hits == 1);
  CHECK(stats.disk.misses == 1);
  CHECK(stats.entries == 2);
  CHECK(stats.promotions == 1);
}

} // namespace memory_test
