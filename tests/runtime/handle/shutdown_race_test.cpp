// A runtime that shuts down while other threads use it: every call is answered or refused, and none
// uses an object that shutdown destroys. ThreadSanitizer's run (scripts/test-caf-threads) sees
// more.
#include "tests/support/runtimes.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <barrier>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace shutdown_race_test {

using namespace hearth;
using namespace hearth::test;

namespace {

constexpr int calls_before = 20; // per thread, before shutdown begins

// A call; it gets the number of its thread's earlier calls, and returns its error if it failed.
using call = std::function<std::optional<error>(int)>;

template <class T>
std::optional<error> failure_of(const expected<T>& answer) {
  if (answer) return std::nullopt;
  return answer.error();
}

bool is_refusal(const error& why) {
  return why.code() == errc::closed || why.code() == errc::cancelled;
}

// Repeats each call on its own thread, and shuts the runtime down meanwhile. Returns the errors
// that are no refusals.
std::vector<std::string> errors_at_shutdown(runtime& rt, const std::vector<call>& calls) {
  std::vector<std::string> errors;
  std::mutex errors_mutex;
  std::barrier under_way(std::ptrdiff_t(calls.size()) + 1);
  std::atomic<bool> is_down{false};
  std::vector<std::thread> threads;
  for (const auto& one : calls)
    threads.emplace_back([&] {
      for (int i = 0; i <= calls_before || !is_down; ++i) {
        if (i == calls_before) under_way.arrive_and_wait();
        const auto why = one(i);
        if (!why || is_refusal(*why)) continue;
        const std::lock_guard lock(errors_mutex);
        errors.push_back(why->to_string());
      }
    });
  under_way.arrive_and_wait();
  rt.shutdown();
  is_down = true;
  for (auto& thread : threads)
    thread.join();
  return errors;
}

} // namespace

TEST_CASE_FIXTURE(on_disk, "calls while the runtime shuts down are answered or refused") {
  runtime rt(settings());
  const auto cache = rt.open("c").value();
  const auto value = artifact::make("v");
  const auto compile = [&] { return value; };
  const auto errors = errors_at_shutdown(
      rt, {[&](int i) { return failure_of(cache.insert(key::integer(i), value)); },
           [&](int i) { return failure_of(cache.put(key::integer(i % 64), value)); },
           [&](int i) { return failure_of(cache.get(key::integer(i % 64))); },
           [&](int i) { return failure_of(cache.erase(key::integer(i % 64))); },
           [&](int i) { return failure_of(cache.get_or_compile(key::integer(-i), compile)); },
           [&](int i) {
             return failure_of(cache.get_or_compile_async(key::integer(-i), compile).get());
           }});
  CHECK(errors == std::vector<std::string>());
  CHECK(cache.insert("k", value).error().code() == errc::closed);
}

TEST_CASE_FIXTURE(on_disk,
                  "statistics and metrics while the runtime shuts down are current or refused") {
  runtime rt(settings());
  const auto cache = rt.open("c").value();
  const auto value = artifact::make("v");
  std::uint64_t disk_misses = 0; // used by the thread that asks for statistics
  const auto errors = errors_at_shutdown(
      rt, {[&](int i) { return failure_of(cache.insert(key::integer(i), value)); },
           [&](int i) { return failure_of(cache.get(key::integer(-1 - i))); },
           [&](int) -> std::optional<error> {
             const auto before = std::exchange(disk_misses, rt.stats().disk.misses);
             if (disk_misses >= before) return std::nullopt;
             return error{errc::internal, "the statistics went back"};
           },
           [&](int) { return failure_of(rt.metrics()); },
           [&](int i) {
             // Opens a new signing cache, which checks whether it is stored remotely.
             return failure_of(rt.open("c" + std::to_string(i), cache_options().signing()));
           }});
  CHECK(errors == std::vector<std::string>());
  CHECK(disk_misses >= calls_before);
  CHECK(rt.stats().disk.misses >= disk_misses); // the counters outlive shutdown
  CHECK(rt.metrics().error().code() == errc::closed);
}

TEST_CASE("several threads may shut the runtime down at once") {
  for (int round = 0; round < 10; ++round) {
    runtime rt(in_memory());
    const auto cache = rt.open("c").value();
    CHECK(cache.insert("k", artifact::make("v")));
    std::barrier begin(3);
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i)
      threads.emplace_back([&] {
        begin.arrive_and_wait();
        rt.shutdown();
      });
    for (auto& thread : threads)
      thread.join();
    CHECK(cache.insert("k", artifact::make("v")).error().code() == errc::closed);
  }
}

TEST_CASE("a runtime shuts down while threads that asked it live on") {
  runtime rt(in_memory());
  const auto cache = rt.open("c").value();
  std::barrier asked(2), is_down(2);
  std::thread other([&] {
    CHECK(rt.metrics());
    CHECK(rt.stats().entries == 0);
    asked.arrive_and_wait();
    is_down.arrive_and_wait(); // blocks for ever if shutdown waits for the end of this thread
  });
  asked.arrive_and_wait();
  rt.shutdown();
  is_down.arrive_and_wait();
  other.join();
}

TEST_CASE("a thread that did not start the runtime may shut it down") {
  runtime rt(in_memory());
  std::thread([&] { rt.shutdown(); }).join();
  CHECK(rt.metrics().error().code() == errc::closed);
}

} // namespace shutdown_race_test
