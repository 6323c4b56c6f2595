#include "messages/hash.hpp"

#include <random>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace hearth {

std::uint64_t fast_hash(std::string_view bytes) noexcept {
  return XXH3_64bits(bytes.data(), bytes.size());
}

std::uint64_t fast_hash(std::string_view bytes, std::uint64_t seed) noexcept {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

std::uint64_t process_seed() noexcept {
  static const std::uint64_t seed = [] {
    std::random_device source;
    return (std::uint64_t{source()} << 32) | source();
  }();
  return seed;
}

} // namespace hearth
