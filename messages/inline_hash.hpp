// The fast hash, compiled into its caller where a call would cost too much.
#pragma once

#include <cstdint>
#include <string_view>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace hearth {

/// Returns the same value as `fast_hash`.
inline std::uint64_t inline_hash(std::string_view bytes, std::uint64_t seed) noexcept {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

} // namespace hearth
