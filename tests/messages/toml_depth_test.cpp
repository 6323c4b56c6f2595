// Keys of TOML files that are nested too deeply.
#include "messages/toml_depth.hpp"

#include <doctest/doctest.h>

#include <string>

namespace toml_depth_test {

using namespace hearth;

namespace {

std::string key_of(std::size_t parts) {
  std::string key = "a";
  for (std::size_t i = 1; i < parts; ++i)
    key += ".a";
  return key;
}

} // namespace

TEST_CASE("TOML depth: a key has so many parts at most") {
  const auto most = key_of(max_toml_key_parts), more = key_of(max_toml_key_parts + 1);
  CHECK(line_of_deep_toml_key(most + " = 1\n[" + most + "]\n") == 0);
  CHECK(line_of_deep_toml_key(more + " = 1\n") == 1);
  CHECK(line_of_deep_toml_key("x = 1\n\n[[" + more + "]]\n") == 3);
  CHECK(line_of_deep_toml_key("x = { y = 1, " + more + " = 2 }\n") == 1);
  CHECK(line_of_deep_toml_key("\"a\"." + more + " = 1\n") == 1);
  CHECK(line_of_deep_toml_key("x = \"\"\"\n\n\"\"\"\n" + more + " = 1\n") == 4);
}

TEST_CASE("TOML depth: dots of values, texts and comments do not count") {
  const auto more = key_of(max_toml_key_parts + 1);
  for (const auto& text : {"x = \"" + more + "\"\n", "x = '" + more + "'\n", "# " + more + "\n",
                           "x = \"\"\"\n" + more + "\n\"\"\"\n", "x = '''" + more + "'''\n",
                           "x = \"\\\"" + more + "\"", "\"" + more + "\" = 1\n",
                           std::string("x = \"open"), std::string("'''"), std::string()}) {
    CAPTURE(text);
    CHECK(line_of_deep_toml_key(text) == 0);
  }
  std::string numbers = "x = [";
  for (std::size_t i = 0; i < 2 * max_toml_key_parts; ++i)
    numbers += "1.5, ";
  CHECK(line_of_deep_toml_key(numbers + "]\n") == 0);
}

} // namespace toml_depth_test
