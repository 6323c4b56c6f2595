// The time that hits save: reported by each hit, and as a total to hosts that want it.
#include "tests/support/runtimes.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <future>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace saved_time_test {

using namespace hearth;
using namespace hearth::test;
using namespace std::chrono_literals;
using std::chrono::nanoseconds;

namespace {

const auto second_of_work = value::map{{"time_taken_ns", 1'000'000'000}};

// The reports that a host received.
struct ledger {
  cache_options options(cache_options base = {}) {
    base.on_time_saved = [this](nanoseconds saved, nanoseconds total) {
      const std::lock_guard lock(mutex);
      told.emplace_back(saved, total);
    };
    return base;
  }
  std::mutex mutex;
  std::vector<std::pair<nanoseconds, nanoseconds>> told;
};

compile_function takes(std::chrono::milliseconds time) {
  return [=]() -> expected<artifact> {
    for (const auto end = std::chrono::steady_clock::now() + time;
         std::chrono::steady_clock::now() < end;)
      std::this_thread::yield();
    return artifact::make("code");
  };
}

} // namespace

TEST_CASE("a hit reports the time of its compile") {
  runtime rt(in_memory());
  const auto cache = rt.open("c").value();
  REQUIRE(cache.get_or_compile("k", takes(3ms)));
  CHECK(cache.get("k")->time_saved() >= 3ms);
  REQUIRE(cache.get_or_compile_async("async", takes(3ms)).get());
  CHECK(cache.get("async")->time_saved() >= 3ms);
  // A time in the artifact's own metadata takes precedence.
  REQUIRE(cache.get_or_compile("own", [] { return artifact::make("code", second_of_work); }));
  CHECK(cache.get("own")->time_saved() == 1s);
  // An inserted artifact has no time, unless its metadata says one.
  REQUIRE(cache.insert("plain", artifact::make("x")));
  CHECK(cache.get("plain")->time_saved() == 0s);
  CHECK(cache.get("miss")->time_saved() == 0s);
}

TEST_CASE("metadata of a compile are unchanged beside its time") {
  runtime rt(in_memory());
  const auto cache = rt.open("c").value();
  const auto made = cache.get_or_compile("k", [] {
    return artifact::make("code", value::map{{"guard", "m > 0"}});
  });
  const auto metadata = made->metadata().value();
  CHECK(metadata.size() == 2);
  CHECK(metadata.at("guard") == value("m > 0"));
  CHECK(metadata.contains("time_taken_ns"));
  CHECK(made->payload() == "code");
  const auto raw = cache.get_or_compile("raw", [] { return artifact::make("code", "\xff"); });
  CHECK(raw->metadata_bytes() == "\xff");
}

TEST_CASE("the host is told of each hit and of the total so far") {
  runtime rt(in_memory());
  ledger hits;
  const auto cache = rt.open("c", hits.options()).value();
  const auto copy = cache;
  REQUIRE(cache.insert("k", artifact::make("code", second_of_work)));
  REQUIRE(cache.insert("silent", artifact::make("code")));
  CHECK(cache.time_saved() == 0s);

  const std::vector<key> keys{"k", "miss", "k", "silent"};
  const auto never = [] { return artifact::make("never"); };
  REQUIRE(cache.get("k")->hit());
  REQUIRE(cache.get("k", call_options().within(1min))->hit());
  REQUIRE(copy.get_async("k").get()->hit());
  REQUIRE(cache.get_many(keys).size() == 4);              // two hits
  REQUIRE(cache.get_many_async(keys).get()->size() == 4); // two hits
  REQUIRE(cache.get_or_compile("k", never)->payload() == "code");
  REQUIRE(cache.get_or_compile_async("k", never).get()->payload() == "code");
  CHECK_FALSE(cache.get("miss")->hit());

  CHECK(cache.time_saved() == 9s);
  CHECK(copy.time_saved() == 9s);
  REQUIRE(hits.told.size() == 9);
  for (std::size_t i = 0; i < hits.told.size(); ++i) {
    CHECK(hits.told[i].first == 1s);
    CHECK(hits.told[i].second == (i + 1) * 1s);
  }
}

TEST_CASE("handles of one cache count separately, and one without a callback not at all") {
  runtime rt(in_memory());
  ledger hits;
  const auto counting = rt.open("c", hits.options()).value();
  const auto plain = rt.open("c").value();
  REQUIRE(plain.insert("k", artifact::make("code", second_of_work)));
  REQUIRE(plain.get("k")->hit());
  CHECK(plain.time_saved() == 0s);
  CHECK(counting.time_saved() == 0s);
  REQUIRE(counting.get("k")->hit());
  CHECK(counting.time_saved() == 1s);
  CHECK(hits.told.size() == 1);
}

TEST_CASE_FIXTURE(on_disk, "a hit on disk reports the time, also of another process") {
  {
    runtime rt(settings());
    REQUIRE(rt.open("c")->get_or_compile("k", takes(3ms)));
  }
  runtime rt(settings());
  ledger hits;
  const auto cache = rt.open("c", hits.options(cache_options().without_memory())).value();
  const auto found = cache.get("k").value();
  CHECK(found.from == tier::disk);
  CHECK(found.time_saved() >= 3ms);
  REQUIRE(cache.get_async("k").get()->from == tier::disk);
  CHECK(cache.time_saved() == 2 * found.time_saved());
}

TEST_CASE("the compile itself saves nothing, nor does waiting for another caller's") {
  runtime rt(in_memory());
  ledger hits;
  const auto cache = rt.open("c", hits.options()).value();
  std::promise<void> started, go_on;
  auto first = std::async(std::launch::async, [&] {
    return cache.get_or_compile("k", [&]() -> expected<artifact> {
      started.set_value();
      go_on.get_future().wait();
      return artifact::make("code", second_of_work);
    });
  });
  started.get_future().wait();
  const auto never = [] { return artifact::make("never"); };
  auto waiting = std::async(std::launch::async, [&] { return cache.get_or_compile("k", never); });
  auto waiting_async = cache.get_or_compile_async("k", never);
  while (rt.stats().leases_waiting < 2)
    std::this_thread::yield();
  go_on.set_value();
  CHECK(first.get()->payload() == "code");
  CHECK(waiting.get()->payload() == "code");
  CHECK(waiting_async.get()->payload() == "code");
  CHECK(hits.told.empty());
  CHECK(cache.time_saved() == 0s);
}

} // namespace saved_time_test
