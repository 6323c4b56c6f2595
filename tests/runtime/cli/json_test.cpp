#include "runtime/cli/io/json.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

namespace json_test {

using namespace hearth;

TEST_CASE("a map with keys that are no text is shown as its pairs") {
  const value shown{value::keyed_map{{2, "b"}, {binary{"x"}, {}}, {"a", 1}}};
  CHECK(cli::dump(cli::display_json(shown)) ==
        R"({"map":[[2,"b"],["a",1],[{"base64":"eA=="},null]]})"
        "\n");
  CHECK(cli::dump(cli::display_json(value::map{{"a", 1}})) == "{\"a\":1}\n");
}

} // namespace json_test
