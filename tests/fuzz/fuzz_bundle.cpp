// Bundles: reads hostile bytes as they are, and again as content with matching checksums, as an
// attacker could make it.
#include "tests/fuzz/fuzz.hpp"
#include "tests/storage/bundle/bundle_bytes.hpp"

using namespace hearth;
using namespace hearth::fuzz;

namespace {

constexpr std::uint64_t max_bytes = 1u << 18;

void read(std::string_view bytes) {
  storage::bundle_reader in(test::source_of(bytes, 61));
  const auto records = test::records_of(in, max_bytes);
  if (!records) return require(!records.error().text().empty(), "an error without a reason");
  require(in.end().records == records->size(), "another number of records");
  storage::bundle_reader again(test::source_of(bytes), in.marks());
  require(test::records_of(again, max_bytes).has_value(), "the second pass differs");
  for (const auto& [head, payload] : *records)
    if (head.payload_bytes > max_bytes) return;
  const auto written = test::bundle_of(*records);
  const auto back = test::records_in(written);
  require(back && *back == *records, "written again, it is another bundle");
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  auto bytes = text_of(data, size);
  read(bytes);
  const auto records = take_byte(bytes);
  read(test::sealed_content(bytes, records));
  return 0;
}
