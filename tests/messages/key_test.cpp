#include "messages/key.hpp"

#include <doctest/doctest.h>

using namespace hearth;

TEST_CASE("keys of different kinds have different bytes") {
  const key keys[] = {key("1"), key::integer(1), key::bytes("1"), key::tuple({key("1")}),
                      key::tuple({})};
  for (const auto& a : keys)
    for (const auto& b : keys)
      CHECK((a == b) == (&a == &b));
}

TEST_CASE("a key comes back from its canonical bytes only") {
  const auto original = key::tuple({"matmul", key::integer(-5), key::bytes("\xff")});
  const auto decoded = key::decode(original.encoded());
  REQUIRE(decoded);
  CHECK(*decoded == original);
  CHECK(original.describe() == R"(("matmul", -5, b'ff'))");
  CHECK_FALSE(key::decode("\xcc\x01")); // 1 in two bytes
  CHECK_FALSE(key::decode("\xc0"));     // nil
  CHECK_FALSE(key::decode(""));
  CHECK_FALSE(key::decode(std::string(40, '\x91') + '\x01'));
}
