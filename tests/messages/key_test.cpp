#include "messages/key.hpp"
#include "messages/key_bytes.hpp"

#include <doctest/doctest.h>

namespace key_test {

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

TEST_CASE("the bytes of a key are copied and moved whole, in place or not") {
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, key_bytes::in_place,
                                 key_bytes::in_place + 1, max_key_bytes}) {
    CAPTURE(size);
    std::string text(size, '\0');
    for (std::size_t i = 0; i < size; ++i)
      text[i] = static_cast<char>(i * 7 + 1);
    key_bytes first(text);
    CHECK(std::string_view(first) == text);
    const key_bytes copy(first);
    CHECK(copy == first);
    CHECK(copy.data() != first.data());
    key_bytes moved(std::move(first));
    CHECK(std::string_view(moved) == text);
    CHECK(first.size() == 0); // NOLINT(bugprone-use-after-move): it is empty
    for (const auto* other :
         {"short", "another key, of more bytes than those that have their place "
                   "in the object itself"}) {
      key_bytes target{std::string_view(other)};
      target = moved;
      CHECK(target == moved);
      moved = key_bytes(std::string_view(other));
      CHECK(std::string_view(moved) == other);
      moved = std::move(target);
      CHECK(std::string_view(moved) == text);
    }
  }
}

} // namespace key_test
