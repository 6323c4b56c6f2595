#include "messages/hash.hpp"

#include "messages/inline_hash.hpp"

#include <random>

namespace hearth {

std::uint64_t fast_hash(std::string_view bytes) noexcept {
  return XXH3_64bits(bytes.data(), bytes.size());
}

std::uint64_t fast_hash(std::string_view bytes, std::uint64_t seed) noexcept {
  return inline_hash(bytes, seed);
}

std::uint64_t process_seed() noexcept {
  static const std::uint64_t seed = [] {
    std::random_device source;
    return (std::uint64_t{source()} << 32) | source();
  }();
  return seed;
}

} // namespace hearth
