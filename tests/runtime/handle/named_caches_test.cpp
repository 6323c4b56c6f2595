// Named caches: one for each name and version, with its own options.
#include "runtime/engine/core.hpp"
#include "runtime/handle/internals.hpp"
#include "tests/support/runtimes.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <barrier>
#include <map>
#include <mutex>
#include <set>
#include <thread>

namespace named_caches_test {

using namespace hearth;
using namespace hearth::test;

TEST_CASE("a name opened by many threads at once is one cache") {
  runtime rt(in_memory());
  constexpr int count = 32;
  std::barrier start(count);
  std::mutex mutex;
  std::set<const named_cache*> seen;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < count; ++i)
      threads.emplace_back([&] {
        start.arrive_and_wait();
        const auto opened = rt.open("same", cache_options().with_version("7").compressed());
        const std::lock_guard lock(mutex);
        seen.insert(internals::name(*opened).get());
      });
  }
  CHECK(seen.size() == 1);
}

TEST_CASE("a name opened with other options is an error that names the difference") {
  runtime rt(in_memory());
  CHECK(rt.open("c", cache_options().without_disk()));
  CHECK(rt.open("c", cache_options().without_disk()));
  const cache_options others[] = {{},
                                  cache_options().without_memory().without_disk(),
                                  cache_options().in_memory_only(),
                                  cache_options().without_disk().with_memory_share(1 << 20),
                                  cache_options().without_disk().compressed(),
                                  cache_options().without_disk().signing()};
  for (const auto& other : others) {
    const auto opened = rt.open("c", other);
    REQUIRE_FALSE(opened);
    CHECK(opened.error().code() == errc::invalid_argument);
  }
  CHECK(rt.open("c", cache_options().compressed()).error().text() ==
        "cache 'c' is open with other options (tiers memory remote, memory share 0; now tiers "
        "memory disk remote, memory share 0, compressed): use the same, or another name");
  CHECK(rt.open("c", cache_options().with_version("2"))); // another version is another cache
}

TEST_CASE_FIXTURE(on_disk, "a cache uses its own tiers only") {
  {
    runtime rt(settings());
    CHECK(rt.open("memory", cache_options().without_disk())->insert("k", artifact::make("v")));
    CHECK(rt.open("disk", cache_options().without_memory())->insert("k", artifact::make("v")));
    CHECK(rt.open("none", cache_options().without_memory().without_disk())
              ->insert("k", artifact::make("v")));
    CHECK(rt.open("memory", cache_options().without_disk())->get("k")->from == tier::memory);
    CHECK(rt.open("disk", cache_options().without_memory())->get("k")->from == tier::disk);
    CHECK(rt.open("disk", cache_options().without_memory())->get("k")->from == tier::disk);
    CHECK_FALSE(rt.open("none", cache_options().without_memory().without_disk())->get("k")->hit());
  }
  runtime rt(settings());
  CHECK_FALSE(rt.open("memory", cache_options().without_disk())->get("k")->hit());
  CHECK(rt.open("disk")->get("k")->from == tier::disk);
}

TEST_CASE("names are safe and versions are separate") {
  runtime rt(in_memory());
  for (const auto* bad : {"", ".", "..", ".hidden", "a/b", "../x", "a b", "a\\b", "na\xc3\xafve"})
    CHECK(rt.open(bad).error().code() == errc::invalid_argument);
  CHECK(rt.open(std::string(65, 'a')).error().code() == errc::invalid_argument);
  CHECK(rt.open(std::string(64, 'a')));
  const auto one = rt.open("c", cache_options().with_version("1")).value();
  const auto two = rt.open("c", cache_options().with_version("2")).value();
  CHECK(one.insert("k", artifact::make("of 1")));
  CHECK_FALSE(two.get("k")->hit());
  CHECK(*two.insert("k", artifact::make("of 2")) == insert_outcome::inserted);
  CHECK(one.get("k")->value.payload() == "of 1");
}

TEST_CASE(
    "a cache's share of memory is its own: it fills no more and loses nothing to other caches") {
  auto settings = in_memory();
  settings.memory_budget_bytes = 8u << 20;
  settings.memory_shards = 2;
  runtime rt(settings);
  const auto shared = rt.open("shared", cache_options().without_disk()).value();
  const auto own =
      rt.open("own", cache_options().without_disk().with_memory_share(2u << 20)).value();
  const auto payload = std::string(1000, 'x');
  const auto hits = [](const cache& in, int count) {
    int found = 0;
    for (int i = 0; i < count; ++i)
      found += in.get(key::integer(i))->hit();
    return found;
  };
  for (int i = 0; i < 1000; ++i)
    CHECK(own.insert(key::integer(i), artifact::make(payload)));
  CHECK(hits(own, 1000) == 1000);
  for (int i = 0; i < 20'000; ++i)
    static_cast<void>(shared.insert_async(key::integer(i), artifact::make(payload)));
  CHECK(shared.insert("last", artifact::make("x")));
  CHECK(hits(own, 1000) == 1000); // no entry was evicted
  const auto before = hits(shared, 20'000);
  REQUIRE(before > 500);
  for (int i = 1000; i < 20'000; ++i)
    static_cast<void>(own.insert_async(key::integer(i), artifact::make(payload)));
  CHECK(own.insert("last", artifact::make("x")));
  CHECK(hits(own, 20'000) <= (2 << 20) / 1000);
  CHECK(hits(own, 20'000) >= 1000);
  CHECK(hits(shared, 20'000) >= before * 3 / 4);
  CHECK(rt.stats().bytes_used <= rt.stats().budget_bytes);
}

TEST_CASE("shares of memory beyond the budget are refused") {
  auto settings = in_memory();
  settings.memory_budget_bytes = 8u << 20;
  runtime rt(settings);
  CHECK(rt.open("a", cache_options().with_memory_share(4u << 20)));
  const auto more = rt.open("b", cache_options().with_memory_share(4u << 20));
  REQUIRE_FALSE(more);
  CHECK(more.error().text() ==
        "cache 'b' wants 4194304 bytes of the memory budget; 3145728 are left "
        "to be had: raise memory_budget_bytes");
  CHECK(rt.open("b", cache_options().with_memory_share(3u << 20)));
}

TEST_CASE_FIXTURE(on_disk, "a cache's values are compressed on disk when its options say so") {
  runtime rt(settings());
  const auto value = artifact::make(std::string(100'000, 'x'));
  CHECK(rt.open("small", cache_options().compressed())->insert("k", value));
  CHECK(rt.open("large")->insert("k", value));
  std::map<std::string, std::uint64_t> stored;
  CHECK(internals::core(rt).store()->list([&](const storage::entry_info& entry) {
    stored[entry.cache] = entry.stored_bytes;
    return true;
  }));
  CHECK(stored["small"] < 10'000);
  CHECK(stored["large"] >= 100'000);
  rt.shutdown();
  runtime again(settings());
  const auto found = again.open("small", cache_options().compressed())->get("k");
  CHECK(found->from == tier::disk);
  CHECK(same_bytes(found->value, value));
}

} // namespace named_caches_test
