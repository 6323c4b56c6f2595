#include "runtime/cli/help/suggestion.hpp"

#include <doctest/doctest.h>

namespace suggestion_test {

using namespace hearth::cli;

TEST_CASE("suggestion: the distance counts inserts, removals, replacements and swaps") {
  CHECK(edit_distance("", "") == 0);
  CHECK(edit_distance("", "abc") == 3);
  CHECK(edit_distance("abc", "") == 3);
  CHECK(edit_distance("list", "list") == 0);
  CHECK(edit_distance("lits", "list") == 1);
  CHECK(edit_distance("lst", "list") == 1);
  CHECK(edit_distance("lisst", "list") == 1);
  CHECK(edit_distance("lost", "list") == 1);
  CHECK(edit_distance("kitten", "sitting") == 3);
  CHECK(edit_distance("ca", "abc") == 3); // no character is edited twice
}

TEST_CASE("suggestion: the nearest word, if it is near") {
  const std::vector<std::string> words{"list",    "stats",     "store",
                                       "compile", "--version", "--verbose"};
  CHECK(nearest("lits", words) == "list");
  CHECK(nearest("complie", words) == "compile");
  CHECK(nearest("comp", words) == "compile");
  CHECK(nearest("--vers", words) == "--version");
  CHECK(nearest("stast", words) == "stats");
  CHECK_FALSE(nearest("fetch", words));
  CHECK_FALSE(nearest("", words));
  CHECK_FALSE(nearest("l", words));
  CHECK_FALSE(nearest(std::string(100'000, 'l'), words));
  CHECK_FALSE(nearest("list", {}));
}

} // namespace suggestion_test
