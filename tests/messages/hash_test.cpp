// The fast hashes equal XXH3 for every length; the stored formats depend on it.
#include "messages/hash.hpp"

#include "messages/hex.hpp"

#include <doctest/doctest.h>
#include <string>

namespace hash_test {

using namespace hearth;

namespace {

std::string hex_of(const hash_128& hash) {
  std::string text;
  append_hex(text, hash.view());
  return text;
}

} // namespace

TEST_CASE("hash: 128 bits are XXH3's, high half first") {
  // Computed by libxxhash's XXH3_128bits_withSeed.
  CHECK(hex_of(fast_hash_128("")) == "99aa06d3014798d86001c324468d497f");
  CHECK(hex_of(fast_hash_128(std::string(53, 'a'))) == "25dde20dec44895ba66d4fe2b82cd2da");
  CHECK(hex_of(fast_hash_128(std::string(1000, 'a'))) == "b01da365eddaa29cb3e7af627147db7c");
  CHECK(hex_of(fast_hash_128(std::string(1000, 'a'), 7)) == "1e52a98604b75bfc3f9e6c865a1faf29");
}

TEST_CASE("hash: hexadecimal digits are appended, two a byte, lower case") {
  std::string text = "x:";
  append_hex(text, std::string_view("\x00\x0f\xa5\xff", 4));
  CHECK(text == "x:000fa5ff");
  append_hex(text, "");
  CHECK(text == "x:000fa5ff");
}

} // namespace hash_test
