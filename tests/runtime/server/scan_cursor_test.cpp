// The number of a place in a scan.
#include "runtime/server/entries/scan_cursor.hpp"

#include <cstdint>
#include <doctest/doctest.h>

namespace scan_cursor_test {

using namespace hearth::server;
using hearth::storage::scan_place;

TEST_CASE("a place is its number's, and no number is 0 or negative") {
  for (const auto& place : {scan_place{}, scan_place{3, 7, 4'096},
                            scan_place{256 + 63, 65'535, (std::uint64_t{1} << 37) - 1}}) {
    const auto cursor = cursor_of(place);
    CHECK(cursor != 0);
    CHECK(static_cast<std::int64_t>(cursor) > 0);
    CHECK(place_of(cursor) == place);
  }
}

TEST_CASE("0 is the beginning, and a number that no page has had is none") {
  CHECK(place_of(0) == scan_place{});
  CHECK_FALSE(place_of(1));
  CHECK_FALSE(place_of(17));
  CHECK_FALSE(place_of(std::uint64_t{1} << 63));
  CHECK_FALSE(place_of(~std::uint64_t{0}));
}

} // namespace scan_cursor_test
