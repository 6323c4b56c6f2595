#include "storage/remote/breaker.hpp"

#include <doctest/doctest.h>

namespace breaker_test {

using hearth::storage::breaker;
using namespace std::chrono_literals;

namespace {

breaker open_breaker(hearth::storage::breaker_options options = {}) {
  breaker made(options);
  made.fail(true);
  return made;
}

} // namespace

TEST_CASE("a breaker opens at once or after so many failures in a row") {
  breaker one({});
  CHECK(one.is_closed());
  CHECK_FALSE(one.fail(false));
  CHECK_FALSE(one.fail(false));
  one.succeed();
  CHECK_FALSE(one.fail(false));
  CHECK_FALSE(one.fail(false));
  CHECK(one.fail(false));
  CHECK(one.now() == breaker::phase::open);
  breaker other({});
  CHECK(other.fail(true));
  CHECK(other.openings() == 1);
}

TEST_CASE("only its probe closes a breaker") {
  auto one = open_breaker();
  one.succeed();
  CHECK_FALSE(one.fail(true));
  CHECK(one.now() == breaker::phase::open);
  one.begin_probe();
  CHECK(one.now() == breaker::phase::half_open);
  CHECK_FALSE(one.fail(true));
  one.end_probe(false);
  CHECK(one.now() == breaker::phase::open);
  CHECK(one.openings() == 1);
  one.begin_probe();
  one.end_probe(true);
  CHECK(one.is_closed());
}

TEST_CASE("the backoff grows with each probe that fails, up to a bound, and starts over") {
  auto one = open_breaker({.first_backoff = 100ms, .max_backoff = 1000ms});
  auto whole = 100ms;
  for (int probe = 0; probe < 8; ++probe) {
    const auto wait = one.backoff();
    CHECK(wait >= whole / 2);
    CHECK(wait <= whole);
    one.begin_probe();
    one.end_probe(false);
    whole = std::min(whole * 2, 1000ms);
  }
  one.begin_probe();
  one.end_probe(true);
  one.fail(true);
  CHECK(one.backoff() <= 100ms);
}

TEST_CASE("two seeds wait for different times") {
  auto one = open_breaker({.first_backoff = 1000s, .max_backoff = 1000s, .seed = 1});
  auto two = open_breaker({.first_backoff = 1000s, .max_backoff = 1000s, .seed = 2});
  CHECK(one.backoff() != two.backoff());
}

} // namespace breaker_test
