#include "storage/text/json_value.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

namespace json_value_test {

using namespace hearth;

TEST_CASE("a map with keys that are no text has no JSON, and the error says what to do") {
  const auto refused = json_of(value::map{{"sizes", value::keyed_map{{16, 1}}}});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == errc::unsupported);
  CHECK(refused.error().text() ==
        "sizes: a map has a key that is no text, which JSON has not; make texts of the keys, or "
        "keep the value as msgpack");
  CHECK(json_of(value::keyed_map{{"16", 1}})->dump() == R"({"16":1})");
}

} // namespace json_value_test
