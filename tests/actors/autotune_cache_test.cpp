#include "actors/autotune_cache.hpp"

#include "tests/support/tiers.hpp"

using namespace hearth;
using namespace hearth::test;

namespace {

const autotune_record known{value::map{{"TILE", 16}, {"fast", true}}, "hash-1", 2'345'678, false};

struct fixture : deterministic {
  temporary_directory directory;
  tiers one{*this, directory.path()};
  autotune_cache_actor tunings = keep(system.spawn(actors::autotune_cache, one.router));
  const cache_key k = key_in("autotune", "matmul");

  expected<autotune_record> best(const std::string& hash) {
    return ask<autotune_record>(tunings, verb::best_v, k, hash);
  }
};

} // namespace

TEST_CASE_FIXTURE(fixture, "the best is found for the candidates that it was chosen from") {
  CHECK(best("hash-1").error().code() == errc::not_found);
  CHECK(ask<done>(tunings, verb::save_v, k, known));
  const auto found = best("hash-1");
  REQUIRE(found);
  CHECK(found->config == known.config);
  CHECK(found->time_ns == 2'345'678);
  CHECK_FALSE(found->found_by_coordesc);
  CHECK(best("hash-2").error().code() == errc::not_found);
}

TEST_CASE_FIXTURE(fixture, "a later tuning replaces the one before") {
  CHECK(ask<done>(tunings, verb::save_v, k, known));
  auto better = known;
  better.configs_hash = "hash-2";
  CHECK(ask<done>(tunings, verb::save_v, k, better));
  CHECK(best("hash-2"));
  CHECK_FALSE(best("hash-1"));
}

TEST_CASE("a record keeps the time in ns and its floor in ms") {
  const auto stored = decode_value(actors::encode_record(known).payload()).value();
  CHECK(*stored.find("time_taken_ms") == value{2});
  CHECK(*stored.find("time_taken_ns") == value{2'345'678});
  CHECK(actors::decode_record(artifact::make("\xc0")).error().code() == errc::malformed);
}
