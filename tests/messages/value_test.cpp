#include "messages/value.hpp"

#include <doctest/doctest.h>
#include <limits>
#include <string>
#include <string_view>

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
  CHECK(decode_value(std::string("\x82\xa1k\x01\xa1k\x02", 7)).error().text() ==
        "a map with one key twice");
  CHECK(decode_value("\x01\x02").error().code() == errc::malformed);
  CHECK(decode_value(std::string(100, '\x91') + '\x01').error().text() == "nested deeper than 64");
  CHECK(decode_value("\xdd\xff\xff\xff\xff").error().code() == errc::malformed);
}

TEST_CASE("the bytes of a map with text keys are sorted by the keys' bytes") {
  CHECK(encode(value::map{{"b", 1}, {"aa", 2}}) == "\x82\xa2"
                                                   "aa\x02\xa1"
                                                   "b\x01");
  CHECK(encode(value::keyed_map{{"b", 1}, {"aa", 2}}) == encode(value::map{{"b", 1}, {"aa", 2}}));
  CHECK(value(value::keyed_map{{"b", 1}}) == value(value::map{{"b", 1}}));
  CHECK(value(value::keyed_map{}) == value(value::map{}));
}

namespace {

// A map with a key of each kind. 1, 1.0 and true are three keys.
value every_key() {
  return value::keyed_map{{7, "a"},
                          {{}, 2},
                          {"b", 1},
                          {binary{"x"}, 0},
                          {value::array{1, "q", value::array{2}}, 5},
                          {-0.5, 3},
                          {1.0, 4},
                          {true, 9},
                          {1, value::keyed_map{{2, 3}}}};
}

} // namespace

TEST_CASE("a map with keys of every kind comes back, whatever the order of its bytes") {
  const auto original = every_key();
  const auto bytes = encode(original);
  CHECK(bytes == std::string("\x89\xc0\x02\xc3\x09\x01\x81\x02\x03\x07\xa1"
                             "a\xcb\xbf\xe0\0\0\0\0\0\0\x03\xcb\x3f\xf0\0\0\0\0\0\0\x04\xa1"
                             "b\x01\xc4\x01x\0\x93\x01\xa1q\x91\x02\x05",
                             46));
  const auto decoded = decode_value(bytes);
  REQUIRE(decoded);
  CHECK(*decoded == original);
  const auto turned = decode_value(std::string("\x82\x07\x01\xc0\x02", 5));
  REQUIRE(turned);
  CHECK(encode(*turned) == std::string("\x82\xc0\x02\x07\x01", 5));
  REQUIRE(decoded->find_key(1));
  CHECK(*decoded->find_key(1)->find_key(2) == value(3));
  CHECK(*decoded->find_key(1.0) == value(4));
  CHECK(*decoded->find_key("b") == value(1));
  CHECK(*value(value::map{{"n", 1}}).find_key("n") == value(1));
  CHECK_FALSE(decoded->find_key(8));
  CHECK_FALSE(value(1).find_key(1));
}

TEST_CASE("reals are keys by their bits, but every NaN is one key") {
  const auto nan = std::numeric_limits<double>::quiet_NaN();
  value::keyed_map members{{0.0, 1}, {-0.0, 2}, {nan, 3}};
  CHECK_FALSE(members.emplace(-nan, 4).second);
  CHECK(members.size() == 3);
  CHECK(*value(members).find_key(-0.0) == value(2));
  CHECK(*value(members).find_key(nan) == value(3));
}

TEST_CASE("a map's key is no map, and comes once") {
  const auto text_of = [](std::string_view bytes) { return decode_value(bytes).error().text(); };
  CHECK(text_of(std::string_view("\x81\x80\x01", 3)) == "a map in a map's key");
  CHECK(text_of(std::string_view("\x81\x91\x80\x01", 4)) == "a map in a map's key");
  CHECK(text_of(std::string_view("\x82\x01\x02\x01\x03", 5)) == "a map with one key twice");
  CHECK(text_of(std::string_view("\x83\xa1k\x01\x01\x02\xa1k\x03", 9)) ==
        "a map with one key twice");
  CHECK(decode_value(std::string_view("\x81\x91\x01\x80", 4)));
}

TEST_CASE("bytes of a map with other keys, cut anywhere, are malformed") {
  const auto bytes = encode(every_key());
  for (std::size_t size = 0; size < bytes.size(); ++size)
    CHECK(decode_value(std::string_view(bytes).substr(0, size)).error().code() == errc::malformed);
}

} // namespace value_test
