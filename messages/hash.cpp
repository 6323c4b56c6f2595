#include "messages/hash.hpp"

#include "messages/inline_hash.hpp"
#include "messages/random_number.hpp"

#include <cstring>

namespace hearth {

std::uint64_t fast_hash(std::string_view bytes) noexcept {
  return XXH3_64bits(bytes.data(), bytes.size());
}

std::uint64_t fast_hash(std::string_view bytes, std::uint64_t seed) noexcept {
  return inline_hash(bytes, seed);
}

hash_128 fast_hash_128(std::string_view bytes, std::uint64_t seed) noexcept {
  const auto hash = XXH3_128bits_withSeed(bytes.data(), bytes.size(), seed);
  XXH128_canonical_t written;
  XXH128_canonicalFromHash(&written, hash);
  hash_128 result;
  static_assert(sizeof written.digest == sizeof result.bytes);
  std::memcpy(result.bytes.data(), written.digest, sizeof result.bytes);
  return result;
}

std::uint64_t process_seed() noexcept {
  static const std::uint64_t seed = random_number();
  return seed;
}

} // namespace hearth
