#include "runtime/fingerprints/toolchain/search_paths.hpp"

#include "runtime/fingerprints/toolchain/toolchain.hpp"

#include <doctest/doctest.h>

namespace search_paths_test {

using namespace hearth::fingerprints;

TEST_CASE("a search path in a key has each entry once, in order") {
  CHECK(normal_search_path("/x") == "/x");
  CHECK(normal_search_path("/x:/x") == "/x");
  CHECK(normal_search_path("/x:/y:/x:/z:/y") == "/x:/y:/z");
  CHECK(normal_search_path("/y:/x") == "/y:/x");
}

TEST_CASE("an empty entry of a search path stays the current folder") {
  CHECK(normal_search_path("").empty()); // GCC: no folder in CPATH, the current one in LIBRARY_PATH
  CHECK(normal_search_path(":/x") == ".:/x");
  CHECK(normal_search_path("/x:") == "/x:.");
  CHECK(normal_search_path("/x::/y") == "/x:.:/y");
  CHECK(normal_search_path("::") == ".");
  CHECK(normal_search_path(".:/x:") == ".:/x");
}

TEST_CASE("variables of a key have normal search paths, and other texts as they are") {
  const std::vector<std::string> environment = {"CPATH=/x:/x", "GCC_EXEC_PREFIX=/g:/g",
                                                "LIBRARY_PATH=/l::/l", "SOURCE_DATE_EPOCH=0"};
  CHECK(keyed_variables(environment) ==
        std::vector<std::string>{"CPATH=/x", "GCC_EXEC_PREFIX=/g:/g", "LIBRARY_PATH=/l:.",
                                 "SOURCE_DATE_EPOCH=0"});
  CHECK_FALSE(is_search_path("LD_RUN_PATH")); // its text gets into programs
}

} // namespace search_paths_test
