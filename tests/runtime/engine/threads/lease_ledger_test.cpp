// Waits for a key that are refused because they could never end.
#include "runtime/engine/threads/lease_ledger.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <doctest/doctest.h>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace lease_ledger_test {

using namespace hearth;
using namespace hearth::engine;

namespace {

const named_cache_ptr some_cache = [] {
  const auto id = *cache_id::make("c", "0");
  return std::make_shared<const named_cache>(named_cache{id, 1, id.seed()});
}();

cache_key key_of(std::size_t number) {
  return {some_cache, key("key " + std::to_string(number)).encoded()};
}

} // namespace

TEST_CASE("every thread has a number of its own, the same each time") {
  constexpr std::size_t count = 16;
  std::vector<lease_ledger::holder> numbers(count);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < count; ++i)
    threads.emplace_back([&, i] {
      numbers[i] = lease_ledger::this_thread();
      CHECK(lease_ledger::this_thread() == numbers[i]);
    });
  for (auto& thread : threads)
    thread.join();
  numbers.push_back(lease_ledger::this_thread());
  std::sort(numbers.begin(), numbers.end());
  CHECK(std::adjacent_find(numbers.begin(), numbers.end()) == numbers.end());
}

TEST_CASE("a thread may wait for a key without a holder, or whose holder does not wait") {
  lease_ledger ledger;
  CHECK(ledger.begin_wait(1, key_of(1)));
  ledger.end_wait(1);
  ledger.begin_hold(2, key_of(1));
  CHECK(ledger.begin_wait(1, key_of(1)));
}

TEST_CASE("a thread may not wait for a key that it makes itself") {
  lease_ledger ledger;
  ledger.begin_hold(1, key_of(1));
  CHECK_FALSE(ledger.begin_wait(1, key_of(1)));
  ledger.end_hold(1, key_of(1));
  CHECK(ledger.begin_wait(1, key_of(1)));
}

TEST_CASE("a wait that would close a cycle is refused and not recorded") {
  constexpr std::size_t count = 5;
  lease_ledger ledger;
  for (std::size_t i = 0; i < count; ++i)
    ledger.begin_hold(i, key_of(i));
  for (std::size_t i = 0; i + 1 < count; ++i)
    CHECK(ledger.begin_wait(i, key_of(i + 1)));
  for (std::size_t i = 0; i < count; ++i)
    CHECK_FALSE(ledger.begin_wait(count - 1, key_of(i)));
  CHECK(ledger.begin_wait(count, key_of(0))); // holds no key: no thread waits for it

  // A wait of the chain that ends makes the cycle impossible.
  ledger.end_wait(2);
  CHECK(ledger.begin_wait(count - 1, key_of(0)));
  CHECK_FALSE(ledger.begin_wait(2, key_of(3)));
  CHECK_FALSE(ledger.begin_wait(2, key_of(0)));
  // The end of a hold does so too.
  ledger.end_hold(3, key_of(3));
  CHECK(ledger.begin_wait(2, key_of(3)));
}

TEST_CASE("a thread holds a key until it has ended every key that it makes") {
  lease_ledger ledger;
  CHECK_FALSE(ledger.holds_any(1));
  ledger.begin_hold(1, key_of(1));
  ledger.begin_hold(1, key_of(2));
  CHECK(ledger.holds_any(1));
  CHECK_FALSE(ledger.holds_any(2));
  ledger.end_hold(1, key_of(1));
  CHECK(ledger.holds_any(1));
  ledger.end_hold(1, key_of(2));
  CHECK_FALSE(ledger.holds_any(1));
}

TEST_CASE("threads in a cycle never all wait at once") {
  constexpr std::size_t count = 4;
  constexpr int rounds = 2'000;
  lease_ledger ledger;
  for (std::size_t i = 0; i < count; ++i)
    ledger.begin_hold(i, key_of(i));
  std::atomic<std::size_t> waiting{0};
  std::atomic<std::size_t> most{0};
  std::atomic<int> allowed{0};
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < count; ++i)
    threads.emplace_back([&, i] {
      const auto next = key_of((i + 1) % count);
      const auto spare = key_of(count + i);
      for (int round = 0; round < rounds; ++round) {
        ledger.begin_hold(i, spare);
        if (ledger.begin_wait(i, next)) {
          ++allowed;
          const auto now = ++waiting;
          for (auto seen = most.load(); seen < now && !most.compare_exchange_weak(seen, now);) {
          }
          if (round % 32 == 0) std::this_thread::yield();
          --waiting;
          ledger.end_wait(i);
        }
        ledger.end_hold(i, spare);
      }
    });
  for (auto& thread : threads)
    thread.join();
  CHECK(allowed > 0);
  CHECK(most < count);
  for (std::size_t i = 0; i < count; ++i) {
    CHECK(ledger.holds_any(i));
    ledger.end_hold(i, key_of(i));
    CHECK_FALSE(ledger.holds_any(i));
  }
}

} // namespace lease_ledger_test
