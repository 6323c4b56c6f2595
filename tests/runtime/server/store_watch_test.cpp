#include "runtime/server/entries/store_watch.hpp"

#include <doctest/doctest.h>

#include <memory>

namespace store_watch_test {

using hearth::server::store_watch;

TEST_CASE("store watch: each store of the key is told, until the handle goes") {
  const auto stores = std::make_shared<store_watch>();
  int first = 0, second = 0, other = 0;
  auto one = stores->watch(7, [&] { ++first; });
  const auto two = stores->watch(7, [&] { ++second; });
  const auto three = stores->watch(8, [&] { ++other; });
  stores->note_stored(7);
  stores->note_stored(7);
  CHECK(first == 2);
  CHECK(second == 2);
  CHECK(other == 0);
  one.reset();
  stores->note_stored(7);
  CHECK(first == 2);
  CHECK(second == 3);
}

TEST_CASE("store watch: who is told may end its watch, and begin another one") {
  const auto stores = std::make_shared<store_watch>();
  int told = 0;
  store_watch::handle handle;
  handle = stores->watch(7, [&] {
    ++told;
    handle = stores->watch(7, [&] { told += 10; });
  });
  stores->note_stored(7);
  CHECK(told == 1);
  stores->note_stored(7);
  CHECK(told == 11);
  handle.reset();
  stores->note_stored(7);
  CHECK(told == 11);
}

TEST_CASE("store watch: a handle may outlive it") {
  auto stores = std::make_shared<store_watch>();
  const auto handle = stores->watch(7, [] {});
  stores.reset();
  CHECK(handle.use_count() == 1);
}

} // namespace store_watch_test
