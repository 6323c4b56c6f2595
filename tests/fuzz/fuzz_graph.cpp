// Graphs: any text is refused, or has one normal text, whose own normal text is itself.
#include "messages/graph.hpp"
#include "tests/fuzz/fuzz.hpp"

using namespace hearth;
using namespace hearth::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto normal = normalize_graph(text_of(data, size));
  if (!normal) {
    require(!normal.error().text().empty(), "an error without a text");
    return 0;
  }
  const auto again = normalize_graph(*normal);
  require(again.has_value(), "the normal text is not read");
  require(*again == *normal, "the normal text has another normal text");
  return 0;
}
