#include "messages/autotune/choices.hpp"

#include <doctest/doctest.h>

namespace choices_test {

using namespace hearth;

TEST_CASE("times of choices survive being stored, and so does the reason why one is missing") {
  const choice_times times{{"a", {17, ""}}, {"b", {0, "crashed"}}};
  CHECK(decode_times(encode_times(times)).value() == times);
  for (const auto* bytes : {"", "\xc0", "\x81\xa1x\xc3", "\x81\xa1x\xa0"})
    CHECK(decode_times(bytes).error().code() == errc::malformed);
}

TEST_CASE(
    "all are known when each one is, and known_of returns the known ones of those asked for") {
  const choice_times times{{"a", {17, ""}}, {"b", {0, "crashed"}}, {"c", {3, ""}}};
  CHECK(knows_all(times, {"a", "b"}));
  CHECK_FALSE(knows_all(times, {"a", "d"}));
  CHECK(knows_all(times, {}));
  CHECK(known_of(times, {"d", "c", "a"}) == choice_times{{"a", {17, ""}}, {"c", {3, ""}}});
}

} // namespace choices_test
