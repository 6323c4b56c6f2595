// JSON in the form of key details: any text is refused or read, and reading back what is written
// for it gives the same details.
#include "storage/text/json_reader.hpp"
#include "tests/fuzz/fuzz.hpp"

#include <nlohmann/json.hpp>

using namespace hearth;
using namespace hearth::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto read = read_json(text_of(data, size));
  if (!read) {
    require(!read.error().text().empty(), "an error without a text");
    return 0;
  }
  const auto again = read_json(read->dump());
  require(again.has_value(), "what was written is not read");
  require(*again == *read, "it is read as something else");
  return 0;
}
