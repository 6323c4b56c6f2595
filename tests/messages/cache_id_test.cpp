#include "messages/cache_id.hpp"

#include <doctest/doctest.h>

namespace cache_id_test {

using namespace hearth;

TEST_CASE("version 0 has the version tag of the original") {
  const auto id = cache_id::make("fxgraph", "0");
  REQUIRE(id);
  CHECK(id->version_tag() == 0x5feceb66);
}

TEST_CASE("two versions are two caches") {
  CHECK_FALSE(*cache_id::make("a", "1") == *cache_id::make("a", "2"));
  CHECK(*cache_id::make("a", "1") == *cache_id::make("a", "1"));
  CHECK(cache_id::make("a", "1")->seed() != cache_id::make("a", "2")->seed());
}

TEST_CASE("names that could lead out of their folder are refused") {
  for (const char* name : {"", ".", "../x", "a/b", "a b", "\xc3\xa4"})
    CHECK(cache_id::make(name).error().code() == errc::invalid_argument);
}

} // namespace cache_id_test
