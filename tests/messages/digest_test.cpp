#include "messages/digest.hpp"

#include "messages/hex.hpp"

#include <doctest/doctest.h>

namespace digest_test {

using namespace hearth;

TEST_CASE("a digest comes back from its bytes and from nothing else") {
  const auto sum = sha256("abc");
  CHECK(digest::of_bytes(sum.view()) == sum);
  CHECK_FALSE(digest::of_bytes(""));
  CHECK_FALSE(digest::of_bytes(sum.view().substr(1)));
  CHECK_FALSE(digest::of_bytes(std::string(sum.view()) + "x"));
}

TEST_CASE("hexadecimal digits are read in either case") {
  CHECK(hex_digit('0') == 0);
  CHECK(hex_digit('f') == 15);
  CHECK(hex_digit('F') == 15);
  for (const char c : {'g', 'G', '/', ':', '@', '`', '\0', '\xff'})
    CHECK(hex_digit(c) == -1);
  CHECK(hex_byte('7', 'f') == '\x7f');
  CHECK(hex_byte('F', 'f') == '\xff');
  CHECK_FALSE(hex_byte('x', 'f'));
  CHECK_FALSE(hex_byte('f', 'x'));
}

TEST_CASE("a byte that cannot be printed is escaped") {
  std::string out = "a";
  append_hex_escape(out, '\n');
  CHECK(out == "a\\x0a");
}

} // namespace digest_test
