#include "runtime/cli/commands/compile_progress.hpp"

#include <doctest/doctest.h>

namespace compile_progress_test {

using namespace hearth::cli;
using namespace std::chrono_literals;

TEST_CASE("progress: the time left is that of the requests that were made") {
  CHECK_FALSE(time_left({0, 0, 10, 5s, ""}));
  CHECK_FALSE(time_left({4, 0, 10, 5s, ""})); // hits alone tell nothing
  CHECK(time_left({6, 2, 10, 10s, ""}) == 20s);
  CHECK_FALSE(time_left({10, 6, 10, 10s, ""}));
}

TEST_CASE("progress: the line says how far it is, what is left and what it works at") {
  CHECK(progress_line({0, 0, 4, 0s, "add n=1"}, 80) == "[........................] 0/4: add n=1");
  CHECK(progress_line({2, 1, 4, 20s, "add n=1"}, 80) ==
        "[############............] 2/4, about 40 s left: add n=1");
  CHECK(progress_line({1, 1, 11, 30s, ""}, 80).ends_with("1/11, about 5 min left"));
  CHECK(progress_line({1, 1, 11, 1080s, ""}, 80).ends_with("about 3.0 h left"));
  CHECK(progress_line({1, 1, 2, 1ms, ""}, 80).ends_with("about 1 s left"));
  CHECK(progress_line({0, 0, 4, 0s, "a-long-name"}, 36) == "[........................] 0/4: a-..");
  CHECK(progress_line({0, 0, 1, 0s, "\033[2J"}, 80).ends_with(": \\x1b[2J"));
  CHECK(progress_line({0, 0, 0, 0s, ""}, 80) == "[########################] 0/0");
}

} // namespace compile_progress_test
