// The fast hash, to be compiled into a caller that does little else.
#pragma once

#include <cstdint>
#include <string_view>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace hearth {

/// The same as `fast_hash`.
inline std::uint64_t inline_hash(std::string_view bytes, std::uint64_t seed) noexcept {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

} // namespace hearth
