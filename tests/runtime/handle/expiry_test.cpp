// Entries with a time to live, in every tier, by a simulated clock.
#include "messages/expiry.hpp"
#include "messages/unix_time.hpp"
#include "tests/support/local_redis.hpp"
#include "tests/support/runtimes.hpp"

#include <doctest/doctest.h>

namespace expiry_test {

using namespace hearth;
using namespace hearth::test;
using namespace std::chrono_literals;

namespace {

constexpr std::int64_t some_day = 1'900'000'000'000; // ms of Unix time

struct clocked : on_disk {
  simulated_unix_time clock{some_day};
};

} // namespace

TEST_CASE("expiry: an entry in memory alone is a miss after its time, and can be stored anew") {
  simulated_unix_time clock(some_day);
  runtime rt(in_memory());
  const auto entries = rt.open("c").value();
  const auto for_an_hour = call_options().with_ttl(1h);
  REQUIRE(*entries.insert("k", artifact::make("old"), for_an_hour) == insert_outcome::inserted);
  REQUIRE(entries.insert("stays", artifact::make("for ever")));
  for (int i = 0; i < 3; ++i)
    CHECK(entries.get("k")->from == tier::memory);
  clock.advance(1h - 1ms);
  CHECK(entries.get("k")->hit());
  CHECK(*entries.insert("k", artifact::make("early")) == insert_outcome::exists);
  clock.advance(1ms);
  CHECK_FALSE(entries.get("k")->hit());
  CHECK_FALSE(entries.get_async("k").get()->hit());
  const std::vector<key> keys{"k", "stays"};
  const auto many = entries.get_many(keys);
  CHECK_FALSE(many[0]->hit());
  CHECK(many[1]->hit());
  CHECK(*entries.insert("k", artifact::make("new")) == insert_outcome::inserted);
  CHECK(entries.get("k")->value.payload() == "new");
}

TEST_CASE_FIXTURE(clocked, "expiry: an entry on disk is a miss after its time, in this process and "
                           "after a restart") {
  {
    runtime rt(settings());
    const auto entries = rt.open("c").value();
    const auto on_disk_alone = rt.open("d", cache_options().without_memory()).value();
    for (const auto& one : {entries, on_disk_alone}) {
      REQUIRE(one.insert("k", artifact::make("old"), call_options().with_ttl(1h)));
      REQUIRE(one.put("put", artifact::make("old"), call_options().with_ttl(2h)));
      CHECK(one.get("k")->hit());
    }
    CHECK(on_disk_alone.get("k")->from == tier::disk);
  }
  clock.advance(59min);
  {
    runtime rt(settings());
    const auto entries = rt.open("c").value();
    CHECK(entries.get("k")->from == tier::disk); // a restart does not begin its time anew
    clock.advance(1min);
    CHECK_FALSE(entries.get("k")->hit()); // it was promoted to memory meanwhile
    CHECK(entries.get("put")->hit());
    CHECK_FALSE(rt.open("d", cache_options().without_memory())->get("k")->hit());
  }
  clock.advance(1h);
  runtime rt(settings());
  const auto entries = rt.open("c").value();
  CHECK_FALSE(entries.get("k")->hit());
  CHECK_FALSE(entries.get("put")->hit());
  CHECK(*entries.insert("k", artifact::make("new")) == insert_outcome::inserted);
  CHECK(entries.get("k")->value.payload() == "new");
}

TEST_CASE_FIXTURE(clocked, "expiry: a cache with a time to live gives it to what is stored through "
                           "it, compiles too") {
  runtime rt(settings());
  const auto entries = rt.open("c", cache_options().with_ttl(1h)).value();
  int compiles = 0;
  const auto compile = [&]() -> expected<artifact> {
    ++compiles;
    return artifact::make("code");
  };
  REQUIRE(entries.insert("inserted", artifact::make("x")));
  REQUIRE(entries.put("put", artifact::make("x")));
  REQUIRE(entries.insert("longer", artifact::make("x"), call_options().with_ttl(3h)));
  REQUIRE(entries.get_or_compile("compiled", compile));
  REQUIRE(entries.get_or_compile_async("later", compile, call_options().with_ttl(2h)).get());
  REQUIRE(entries.get_or_compile("compiled", compile));
  CHECK(compiles == 2);
  clock.advance(1h);
  CHECK_FALSE(entries.get("inserted")->hit());
  CHECK_FALSE(entries.get("put")->hit());
  CHECK(entries.get("longer")->hit());
  CHECK(entries.get("later")->hit());
  REQUIRE(entries.get_or_compile("compiled", compile));
  CHECK(compiles == 3);
  clock.advance(1h);
  CHECK_FALSE(entries.get("later")->hit());
  CHECK(entries.get("longer")->hit());
  CHECK(rt.open("c").error().code() == errc::invalid_argument); // one cache, one time to live
}

TEST_CASE(
    "expiry: the server gets the time to live, and a host does not believe one that is late") {
  simulated_unix_time clock(some_day);
  const local_redis redis;
  const temporary_directory one, other, third;
  {
    runtime rt(of_host(one.path(), redis.url()));
    const auto entries = rt.open("c").value();
    REQUIRE(entries.insert("k", artifact::make("old"), call_options().with_ttl(1h)));
    REQUIRE(entries.put("put", artifact::make("old"), call_options().with_ttl(1h)));
    REQUIRE(entries.insert("stays", artifact::make("for ever")));
    rt.shutdown();
  }
  constexpr auto shortest = "local least = 1e15 "
                            "for _, name in ipairs(redis.call('KEYS', 'hearth:c:*')) do "
                            "local left = redis.call('PTTL', name) "
                            "if left >= 0 and left < least then least = left end end return least";
  constexpr auto with_ttl = "local count = 0 "
                            "for _, name in ipairs(redis.call('KEYS', 'hearth:c:*')) do "
                            "if redis.call('PTTL', name) > 0 then count = count + 1 end end "
                            "return count";
  CHECK(redis.eval(with_ttl) == 2);
  CHECK(redis.eval(shortest) <= 3'600'000);
  CHECK(redis.eval(shortest) > 3'000'000); // the server's clock is the real one
  clock.advance(30min);
  {
    runtime rt(of_host(other.path(), redis.url()));
    const auto entries = rt.open("c").value();
    CHECK(entries.get("k")->from == tier::remote);
    clock.advance(30min);
    CHECK_FALSE(entries.get("k")->hit()); // the copy of this host ends too
    CHECK_FALSE(entries.get("put")->hit());
  }
  runtime rt(of_host(third.path(), redis.url())); // the server still has it
  const auto entries = rt.open("c").value();
  CHECK_FALSE(entries.get("k")->hit());
  CHECK(entries.get("stays")->from == tier::remote);
  REQUIRE(*entries.insert("k", artifact::make("new")) == insert_outcome::inserted);
  rt.shutdown();
  const temporary_directory fourth;
  runtime last(of_host(fourth.path(), redis.url()));
  CHECK(last.open("c")->get("k")->value.payload() == "new");
}

} // namespace expiry_test
