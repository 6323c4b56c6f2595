// The bound on requests in flight: which request is refused, which waits, which exceeds the bound.
#include "runtime/engine/threads/inflight_limiter.hpp"

#include "tests/support/waiting_thread.hpp"

#include <atomic>
#include <cstddef>
#include <doctest/doctest.h>
#include <future>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace inflight_limiter_test {

using namespace hearth;
using namespace hearth::engine;
using test::waiting_thread;

namespace {

using slot = inflight_limiter::slot;

std::shared_ptr<inflight_limiter> bound_of(std::size_t max, overload_policy policy) {
  return std::make_shared<inflight_limiter>(max, policy);
}

// The number of free slots when further requests are refused.
std::size_t free_slots(const std::shared_ptr<inflight_limiter>& bound) {
  std::vector<slot> taken;
  for (;;) {
    auto one = inflight_limiter::take(bound, true);
    if (!one) return taken.size();
    taken.push_back(std::move(*one));
  }
}

} // namespace

TEST_CASE("beyond the bound a request is refused until a slot is given back") {
  const auto bound = bound_of(4, overload_policy::refuse);
  std::vector<slot> taken;
  for (int i = 0; i < 4; ++i)
    taken.push_back(inflight_limiter::take(bound, true).value());
  for (const bool may_wait : {true, false}) {
    const auto refused = inflight_limiter::take(bound, may_wait);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code() == errc::overloaded);
    CHECK(refused.error().text().starts_with("4 requests"));
  }
  taken.pop_back();
  const auto again = inflight_limiter::take(bound, true);
  CHECK(again);
  CHECK_FALSE(inflight_limiter::take(bound, true));
}

TEST_CASE("a slot is given back once, by its last owner") {
  const auto bound = bound_of(3, overload_policy::refuse);
  {
    const slot none;
    auto first = inflight_limiter::take(bound, true).value();
    auto second = inflight_limiter::take(bound, true).value();
    slot moved(std::move(first));
    CHECK(free_slots(bound) == 1);
    first.give_back(); // has no slot any more
    CHECK(free_slots(bound) == 1);
    moved.give_back();
    moved.give_back();
    CHECK(free_slots(bound) == 2);
  }
  CHECK(free_slots(bound) == 3);
}

TEST_CASE("a slot outlives the owners of the bound") {
  auto bound = bound_of(1, overload_policy::refuse);
  auto last = inflight_limiter::take(bound, true).value();
  const std::weak_ptr<inflight_limiter> gone = bound;
  bound.reset();
  CHECK_FALSE(gone.expired());
  last.give_back();
  CHECK(gone.expired());
}

TEST_CASE("a caller that may wait gets the slot that is given back") {
  for (const std::size_t max : {1u, 2u, 7u, 64u}) {
    const auto bound = bound_of(max, overload_policy::block);
    std::vector<slot> taken;
    for (std::size_t i = 0; i < max; ++i)
      taken.push_back(inflight_limiter::take(bound, true).value());
    std::atomic<bool> given{false};
    waiting_thread waiting;
    auto waits = std::async(std::launch::async, [&] {
      waiting.waits_next();
      const auto late = inflight_limiter::take(bound, true);
      return late && given;
    });
    CHECK(waiting.falls_asleep());
    given = true;
    taken.pop_back(); // one slot alone, fewer than the quarter that wakes waiters
    CHECK(waits.get());
  }
}

TEST_CASE("a caller that may not wait exceeds the bound, which holds for the others") {
  const auto bound = bound_of(1, overload_policy::block);
  auto within = std::optional(inflight_limiter::take(bound, true).value());
  auto above = std::optional(inflight_limiter::take(bound, false).value());
  auto further = std::optional(inflight_limiter::take(bound, false).value());
  std::atomic<bool> given{false};
  waiting_thread waiting;
  auto waits = std::async(std::launch::async, [&] {
    waiting.waits_next();
    const auto late = inflight_limiter::take(bound, true);
    return late && given;
  });
  CHECK(waiting.falls_asleep());
  within.reset();
  above.reset();
  CHECK(waiting.falls_asleep()); // still asleep: one request exceeds the bound
  given = true;
  further.reset();
  CHECK(waits.get());
}

TEST_CASE("threads that wait for slots never exceed the bound") {
  constexpr int threads_count = 6;
  constexpr int rounds = 1'000;
  for (const int max : {1, 3, 5}) {
    const auto bound = bound_of(std::size_t(max), overload_policy::block);
    std::atomic<int> inside{0};
    std::atomic<int> too_many{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < threads_count; ++t)
      threads.emplace_back([&] {
        for (int i = 0; i < rounds; ++i) {
          const auto mine = inflight_limiter::take(bound, true);
          if (!mine || ++inside > max) ++too_many;
          if (i % 16 == 0) std::this_thread::yield();
          --inside;
        }
      });
    for (auto& thread : threads)
      thread.join();
    CHECK(too_many == 0);
  }
}

TEST_CASE("threads that are refused leave every slot unchanged") {
  constexpr std::size_t max = 3;
  const auto bound = bound_of(max, overload_policy::refuse);
  std::atomic<std::size_t> inside{0};
  std::atomic<int> too_many{0};
  std::atomic<int> taken{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 6; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 3'000; ++i) {
        auto mine = inflight_limiter::take(bound, true);
        if (!mine) continue;
        ++taken;
        if (++inside > max) ++too_many;
        const slot handed_on(std::move(*mine));
        --inside;
      }
    });
  for (auto& thread : threads)
    thread.join();
  CHECK(taken > 0);
  CHECK(too_many == 0);
  CHECK(free_slots(bound) == max);
}

} // namespace inflight_limiter_test
