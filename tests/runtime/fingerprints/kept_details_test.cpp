#include "runtime/fingerprints/kept_details.hpp"

#include <doctest/doctest.h>

namespace kept_details_test {

using namespace hearth;
using namespace hearth::fingerprints;
namespace {

key_field details_of(int tile) {
  return key_field::map{{"op", "add"}, {"tile", tile}, {"source", std::string(10'000, 'x')}};
}

} // namespace

TEST_CASE("stored details come back complete and take little room") {
  value::map metadata{{"time_taken_ns", 5}};
  REQUIRE(keep_details(metadata, details_of(16)));
  CHECK(metadata.size() == 2);
  CHECK(encode(value{metadata}).size() < 1000);
  const auto back = kept_details(metadata);
  REQUIRE(back);
  REQUIRE(*back);
  CHECK(**back == details_of(16));
}

TEST_CASE("metadata without details has none") {
  const auto none = kept_details({{"time_taken_ns", 5}});
  REQUIRE(none);
  CHECK_FALSE(*none);
}

TEST_CASE("stored details that are damaged are an error") {
  value::map metadata;
  REQUIRE(keep_details(metadata, details_of(16)));
  auto& member = metadata[std::string(kept_details_member)];
  const auto packed = member.as<binary>()->bytes;
  const auto refused = [&](value wrong) {
    member = std::move(wrong);
    const auto read = kept_details(metadata);
    return !read && read.error().code() == errc::malformed;
  };
  CHECK(refused("text"));
  CHECK(refused(binary{""}));
  CHECK(refused(binary{"garbage"}));
  for (std::size_t size = 0; size < packed.size(); ++size)
    CHECK(refused(binary{packed.substr(0, size)}));
}

TEST_CASE("the newest of the equally near keys is reported") {
  const auto wanted = details_of(16);
  nearest_key nearest(wanted);
  CHECK(nearest.offered() == 0);
  nearest.offer("older", 5, details_of(8));
  nearest.offer("newer", 7, details_of(32));
  nearest.offer("oldest", 2, details_of(64));
  nearest.offer("far", 9, key_field::map{{"op", "mul"}});
  CHECK(nearest.offered() == 4);
  CHECK(nearest.name() == "newer");
  REQUIRE(nearest.differences().size() == 1);
  CHECK(nearest.differences()[0].line() == "tile: 16 -> 32");
}

} // namespace kept_details_test
