#include "messages/time_text.hpp"

#include <doctest/doctest.h>

namespace time_text_test {

using namespace hearth;
using namespace std::chrono_literals;

TEST_CASE("times are numbers with a unit") {
  CHECK(parse_time("7ns") == 7ns);
  CHECK(parse_time("7us") == 7us);
  CHECK(parse_time("250ms") == 250ms);
  CHECK(parse_time("90s") == 90s);
  CHECK(parse_time("5min") == 5min);
  CHECK(parse_time("5m") == 5min);
  CHECK(parse_time("2h") == 2h);
  CHECK(parse_time("7d") == 168h);
  CHECK(parse_time("0s") == 0s);
  CHECK(parse_time("1000d") == 24000h);
}

TEST_CASE("text that is no time is refused") {
  for (const auto* text : {"", "s", "90", "-1s", "+1s", "1.5s", " 1s", "1 s", "1s ", "1sec", "1S",
                           "1001d", "9223372036854775808ns", "99999999999999999999s", "1min2s"})
    CHECK_MESSAGE(!parse_time(text), text);
}

TEST_CASE("milliseconds are whole ones and at least one") {
  CHECK(parse_milliseconds("1500us") == 1ms);
  CHECK_FALSE(parse_milliseconds("999us"));
  CHECK_FALSE(parse_milliseconds("0s"));
  CHECK(parse_milliseconds("1d") == 24h);
}

} // namespace time_text_test
