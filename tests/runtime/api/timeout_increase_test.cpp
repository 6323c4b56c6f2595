// By how much timeouts grow after a hit.
#include "runtime/api/timeout_increase.hpp"

#include <doctest/doctest.h>

namespace timeout_increase_test {

using namespace hearth;
using namespace std::chrono_literals;

TEST_CASE("timeouts grow by whole seconds that were saved, and a part of them") {
  CHECK(timeout_increase(999ms) == 0s);
  CHECK(timeout_increase(2999ms) == 2s);
  CHECK(timeout_increase(-5s) == 0s);
  CHECK(timeout_increase(10s, 25) == 12s); // 12.5, rounded down
  CHECK(timeout_increase(3s, 33) == 3s);
  CHECK(timeout_increase(150s, 150) == 375s);
  CHECK(timeout_increase(10s, -5) == 10s);
}

} // namespace timeout_increase_test
