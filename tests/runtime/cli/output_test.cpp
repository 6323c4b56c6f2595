#include "runtime/cli/io/output.hpp"

#include <cstdlib>
#include <doctest/doctest.h>

namespace output_test {

using namespace hearth::cli;

TEST_CASE("output: a text is cut between its characters and never longer than asked") {
  CHECK(shortened("list", 4) == "list");
  CHECK(shortened("lists", 4) == "li..");
  CHECK(shortened("lists", 2) == "..");
  CHECK(shortened("lists", 1) == ".");
  CHECK(shortened("lists", 0) == "");
  CHECK(shortened("", 0) == "");
  CHECK(shortened("äöüß", 4) == "äöüß");
  CHECK(shortened("äöüßé", 4) == "äö..");
  CHECK(padded("äö", 4) == "äö  ");
  CHECK(padded("lists", 4) == "lists");
  CHECK(character_count("äö..") == 4);
}

TEST_CASE("output: the width is that of COLUMNS, if it is one") {
  constexpr int no_terminal = -1;
  for (const auto& [text, width] : {std::pair("100", 100u),
                                    {"19", 80u},
                                    {"0", 80u},
                                    {"x", 80u},
                                    {"100x", 80u},
                                    {"-1", 80u},
                                    {"999999999999999999999", 80u}}) {
    CAPTURE(std::string(text));
    ::setenv("COLUMNS", text, 1);
    CHECK(output_width(no_terminal) == width);
  }
  ::unsetenv("COLUMNS");
  CHECK(output_width(no_terminal) == 80);
}

} // namespace output_test
