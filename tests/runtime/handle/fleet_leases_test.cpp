// Leases of a fleet that nobody ends: whole runtimes, each with its own store, over a real server.
#include "tests/support/local_redis.hpp"
#include "tests/support/runtimes.hpp"
#include "tests/support/temporary_directory.hpp"

#include "runtime/handle/runtime.hpp"

#include <chrono>
#include <doctest/doctest.h>
#include <string>

namespace fleet_leases_test {

using namespace hearth;
using namespace hearth::test;
using namespace std::chrono_literals;

namespace {

// Far below the time of an endless lease, far above that of a compile on a busy machine.
constexpr std::chrono::seconds hang{120};

expected<artifact> make(const cache& in, const std::string& bytes) {
  return in.get_or_compile(
      "k", [&]() -> expected<artifact> { return artifact::make(bytes); },
      call_options().within(hang));
}

} // namespace

TEST_CASE("fleet leases: another client's lease without an expiry gets one") {
  const local_redis redis;
  const temporary_directory one, two;
  auto settings = of_host(one.path(), redis.url());
  runtime first(settings);
  const auto failing = first.open("c").value();
  std::int64_t taken = 0;
  const auto failed = failing.get_or_compile("k", [&]() -> expected<artifact> {
    // As a client that knows no expiry, or whose renewal removed it.
    taken = redis.eval("local all = redis.call('KEYS', '*:lease') for _, name in ipairs(all) do "
                       "redis.call('SET', name, 'somebody') end return #all");
    return fail(errc::compile_failed, "on purpose");
  });
  CHECK_FALSE(failed);
  REQUIRE(taken == 1);
  first.shutdown();

  settings = of_host(two.path(), redis.url());
  settings.remote.lease_time = 500ms;
  runtime second(settings);
  const auto made = make(second.open("c").value(), "of the second");
  REQUIRE_MESSAGE(made, made.error().text());
  CHECK(made->payload() == "of the second");
  CHECK(second.stats().remote->leases_endless == 1);
}

TEST_CASE("fleet leases: a lease that is renewed for ever is waited for with patience") {
  const local_redis redis;
  const temporary_directory one, two;
  runtime first(of_host(one.path(), redis.url()));
  const auto hanging = first.open("c").value();
  auto settings = of_host(two.path(), redis.url());
  settings.patience = 300ms;
  runtime second(settings);
  const auto patient = second.open("c").value();
  const auto held = hanging.get_or_compile("k", [&]() -> expected<artifact> {
    const auto made = make(patient, "of the second");
    REQUIRE_MESSAGE(made, made.error().text());
    CHECK(made->payload() == "of the second");
    return artifact::make("of the first");
  });
  REQUIRE_MESSAGE(held, held.error().text());
  CHECK(second.stats().waits_ended == 1);
}

TEST_CASE("fleet leases: a lease whose answer was lost holds nobody up") {
  local_redis redis;
  const temporary_directory one, two;
  auto settings = of_host(one.path(), redis.url());
  settings.remote.deadline = 100ms;
  settings.remote.lease_time = 10min;
  settings.remote.drain_deadline = 100ms;
  {
    runtime lost(settings);
    const auto cache = lost.open("c").value();
    REQUIRE(cache.get("other"));
    redis.freeze();
    const auto made = make(cache, "of the first");
    REQUIRE_MESSAGE(made, made.error().text());
  }
  redis.thaw(); // now it reads the request, and grants the lease to a process that is gone
  settings = of_host(two.path(), redis.url());
  settings.remote.lease_time = 10min;
  runtime next(settings);
  const auto made = make(next.open("c").value(), "of the second");
  REQUIRE_MESSAGE(made, made.error().text());
}

} // namespace fleet_leases_test
