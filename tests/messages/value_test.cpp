#include "messages/value.hpp"

#include <doctest/doctest.h>

namespace value_test {

using namespace hearth;

TEST_CASE("a value comes back from its bytes") {
  const value original{value::map{
      {"nil", {}},
      {"yes", true},
      {"small", 7},
      {"big", std::int64_t{-9'000'000'000}},
      {"real", 0.1},
      {"whole real", -0.0},
      {"text", "kernel"},
      {"raw", binary{std::string("\0\xff", 2)}},
      {"list", value::array{1, "two", value::array{}}},
  }};
  const auto decoded = decode_value(encode(original));
  REQUIRE(decoded);
  CHECK(*decoded == original);
}

TEST_CASE("bytes cut anywhere are malformed") {
  const auto bytes = encode(value{value::map{{"a", value::array{1, "text", 2.5}}}});
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const auto decoded = decode_value(std::string_view(bytes).substr(0, size));
    REQUIRE_FALSE(decoded);
    CHECK(decoded.error().code() == errc::malformed);
  }
}

TEST_CASE("bytes that do not fit a value are refused") {
  CHECK(decode_value(std::string("\xcf\xff\xff\xff\xff\xff\xff\xff\xff", 9)).error().code() ==
        errc::overflow);
  CHECK(decode_value(std::string("\x81\x01\x02", 3)).error().code() == errc::malformed);
  CHECK(decode_value(std::string("\x82\xa1k\x01\xa1k\x02", 7)).error().text() ==
        "a map with one key twice");
  CHECK(decode_value("\x01\x02").error().code() == errc::malformed);
  CHECK(decode_value(std::string(100, '\x91') + '\x01').error().text() == "nested deeper than 64");
  CHECK(decode_value("\xdd\xff\xff\xff\xff").error().code() == errc::malformed);
}

} // namespace value_test
