#include "messages/hash.hpp"
#include "storage/hash/copy_hash.hpp"
#include "tests/storage/disk/store_fixture.hpp"

namespace copy_hash_test {

using namespace hearth;
using namespace hearth::test;
using namespace hearth::storage;

TEST_CASE("copying while hashing gives the bits of XXH3 for every length and alignment") {
  const auto text = noise(70000, 11);
  std::string out(text.size() + 64, '\0');
  std::vector<std::size_t> lengths;
  for (std::size_t n = 0; n <= 3300; ++n)
    lengths.push_back(n);
  for (const std::size_t n : {8191u, 8192u, 8193u, 16384u, 16385u, 65535u, 65536u, 69900u})
    lengths.push_back(n);
  for (const auto n : lengths) {
    const auto shift = n % 33;
    const char* from = text.data() + shift;
    char* to = out.data() + n % 7;
    const auto want = fast_hash({from, n});
    std::fill(out.begin(), out.end(), '\1');
    REQUIRE(copy_and_hash(to, from, n) == want);
    REQUIRE(std::string_view(to, n) == std::string_view(from, n));
    REQUIRE(to[n] == '\1');
    REQUIRE(copy_and_hash_portable(to, from, n) == want);
    REQUIRE(hash_bytes(from, n) == want);
  }
}

TEST_CASE("the hash of a changed byte differs wherever it is") {
  auto text = noise(4096, 2);
  const auto whole = hash_bytes(text);
  for (std::size_t i = 0; i < text.size(); i += 13) {
    text[i] = static_cast<char>(text[i] ^ 1);
    REQUIRE(hash_bytes(text) != whole);
    text[i] = static_cast<char>(text[i] ^ 1);
  }
}

} // namespace copy_hash_test
