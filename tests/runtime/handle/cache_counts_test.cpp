// What a host is told of each named cache: hits by tier, misses, waits, compiles, writes, time
// saved.
#include "storage/memory/hazard.hpp"
#include "tests/support/local_redis.hpp"
#include "tests/support/runtimes.hpp"

#include <doctest/doctest.h>

#include <future>
#include <string>
#include <thread>
#include <vector>

namespace cache_counts_test {

using namespace hearth;
using namespace hearth::test;

namespace {

expected<artifact> code() { return artifact::make("code"); }

named_cache_counts counts_in(const runtime_stats& stats, const std::string& name) {
  for (const auto& one : stats.caches)
    if (one.cache == name) return one;
  FAIL("no cache " << name);
  return {};
}

} // namespace

TEST_CASE_FIXTURE(on_disk, "hits, misses and writes are counted for each named cache") {
  {
    runtime rt(settings());
    CHECK(rt.open("kernels")->insert("on disk", artifact::make("k")));
  }
  runtime rt(settings());
  const auto kernels = rt.open("kernels").value();
  const auto graphs = rt.open("graphs", cache_options().with_version("2")).value();
  CHECK(kernels.get("on disk")->from == tier::disk);
  CHECK_FALSE(kernels.get("none")->hit());
  CHECK_FALSE(graphs.get("none")->hit());
  CHECK_FALSE(graphs.get_async("none either").get()->hit());
  for (int i = 0; i < 2; ++i)
    REQUIRE(graphs.insert("g", artifact::make("g")));
  REQUIRE(graphs.put("g", artifact::make("h")));
  CHECK(graphs.get("g")->from == tier::memory);
  CHECK(graphs.get_async("g").get()->from == tier::memory);
  const std::vector<key> keys{key("g"), key("none"), key("g")};
  CHECK(graphs.get_many(keys).size() == 3);
  CHECK(graphs.get_many_async(keys).get()->size() == 3);
  CHECK(*graphs.erase("g"));
  CHECK_FALSE(*graphs.erase("g"));

  const auto of_kernels = kernels.counts();
  CHECK(of_kernels.disk_hits == 1);
  CHECK(of_kernels.memory_hits == 0);
  CHECK(of_kernels.misses == 1);
  CHECK(of_kernels.inserted == 0);
  const auto of_graphs = graphs.counts();
  CHECK(of_graphs.memory_hits == 6);
  CHECK(of_graphs.hits() == 6);
  CHECK(of_graphs.misses == 4);
  CHECK(of_graphs.inserted == 1);
  CHECK(of_graphs.existed == 1);
  CHECK(of_graphs.put == 1);
  CHECK(of_graphs.erased == 1);

  const auto all = rt.stats();
  CHECK(all.caches.size() == 2);
  CHECK(counts_in(all, "kernels").disk_hits == 1);
  CHECK(counts_in(all, "graphs").version == "2");
  CHECK(counts_in(all, "graphs").memory_hits == 6);
  CHECK(all.memory.hits == 6);
}

TEST_CASE_FIXTURE(on_disk,
                  "compiles, their waiters and the time that hits save are counted by cache") {
  runtime rt(settings());
  const auto options = cache_options().telling_time_saved([](auto, auto) {});
  const auto cache = rt.open("c", options).value();
  std::promise<void> started, go_on;
  std::thread maker([&] {
    (void)cache.get_or_compile("k", [&]() -> expected<artifact> {
      started.set_value();
      go_on.get_future().wait();
      return artifact::make("v");
    });
  });
  started.get_future().wait();
  auto waits = cache.get_or_compile_async("k", code);
  while (rt.stats().leases_waiting == 0)
    std::this_thread::yield();
  go_on.set_value();
  maker.join();
  CHECK(waits.get()->payload() == "v");
  CHECK_FALSE(cache.get_or_compile(
      "bad", []() -> expected<artifact> { return fail(errc::compile_failed, "no"); }));
  while (cache.counts().failures == 0) // the holder tells of its error by message
    std::this_thread::yield();
  const auto before = cache.counts();
  CHECK(before.misses == 2);
  CHECK(before.waits == 1);
  CHECK(before.compiles == 1);
  CHECK(before.failures == 1);
  CHECK(before.inserted == 1);
  CHECK(before.hits() == 0);
  CHECK(before.time_saved.count() == 0);
  for (int i = 0; i < 3; ++i)
    CHECK(cache.get_or_compile("k", code));
  CHECK(cache.counts().hits() == 3);
  CHECK(cache.counts().misses == 2);
  CHECK(cache.counts().time_saved == cache.time_saved());
  CHECK(cache.counts().time_saved.count() > 0);
}

TEST_CASE("hits of many threads are counted exactly, also after the threads") {
  runtime rt(in_memory());
  const auto one = rt.open("one").value(), other = rt.open("other").value();
  REQUIRE(one.insert("k", artifact::make("v")));
  REQUIRE(other.insert("k", artifact::make("w")));
  constexpr std::uint64_t threads = 8, rounds = 5'000;
  {
    std::vector<std::jthread> readers;
    for (std::uint64_t i = 0; i < threads; ++i)
      readers.emplace_back([&, i] {
        for (std::uint64_t n = 0; n < rounds; ++n) {
          (void)one.get("k");
          if (n % 2 == 0) (void)other.get(i % 2 == 0 ? "k" : "none");
        }
      });
  }
  CHECK(one.counts().memory_hits == threads * rounds);
  CHECK(one.counts().misses == 0);
  CHECK(other.counts().memory_hits == threads * rounds / 4);
  CHECK(other.counts().misses == threads * rounds / 4);
  CHECK(rt.stats().memory.hits == threads * rounds * 5 / 4);
}

TEST_CASE("more caches than there are places for are counted exactly, and later ones from zero") {
  for (int round = 0; round < 2; ++round) {
    runtime rt(in_memory());
    std::vector<cache> all;
    for (unsigned i = 0; i < storage::hazard_record::tally_count + 5; ++i) {
      all.push_back(rt.open("cache" + std::to_string(i)).value());
      CHECK(all.back().counts().hits() == 0);
      REQUIRE(all.back().insert("k", artifact::make("v")));
      for (unsigned n = 0; n < i % 7; ++n)
        CHECK(all.back().get("k")->hit());
      CHECK_FALSE(all.back().get("none")->hit());
    }
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      CHECK(all[i].counts().memory_hits == i % 7);
      CHECK(all[i].counts().misses == 1);
      sum += i % 7;
    }
    CHECK(rt.stats().memory.hits == sum);
  }
}

TEST_CASE("lookups by messages and what the remote tier answers are counted once") {
  const local_redis redis;
  temporary_directory here, there;
  {
    runtime first(of_host(there.path(), redis.url()));
    for (const auto* name : {"a", "b"})
      REQUIRE(first.open("c")->insert(name, artifact::make("v")));
  }
  runtime rt(of_host(here.path(), redis.url()));
  const auto cache = rt.open("c").value();
  CHECK(cache.get("a")->from == tier::remote);
  CHECK_FALSE(cache.get("none")->hit());
  const auto found = cache.lookup_or_compile("b", code).value();
  CHECK(found.from == tier::remote);
  CHECK(cache.lookup_or_compile("new", code)->compiled);
  const auto counts = cache.counts();
  CHECK(counts.remote_hits == 2);
  CHECK(counts.hits() == 2);
  CHECK(counts.misses == 2);
  CHECK(counts.compiles == 1);
}

TEST_CASE("counts stay known after the runtime, and an empty handle has none") {
  cache kept;
  CHECK(kept.counts().misses == 0);
  {
    runtime rt(in_memory());
    kept = rt.open("c").value();
    REQUIRE(kept.insert("k", artifact::make("v")));
  }
  CHECK(kept.get("k")->hit());
  CHECK(kept.counts().memory_hits == 1);
  CHECK(kept.counts().inserted == 1);
}

} // namespace cache_counts_test
