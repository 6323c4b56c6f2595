// The fast hashes, XXH3: 64 bits to find entries, 128 bits to name them outside the process. A hash
// alone never identifies an entry: the key is compared, or is part of the checksum. Pure functions,
// any thread.
#pragma once

#include "messages/visibility.hpp"

#include <array>
#include <cstdint>
#include <string_view>

namespace HEARTH_PUBLIC hearth {

/// XXH3-64 of `bytes` with seed 0. The same on every machine: formats on disk use it.
std::uint64_t fast_hash(std::string_view bytes) noexcept;

/// XXH3-64 of `bytes` with a seed.
std::uint64_t fast_hash(std::string_view bytes, std::uint64_t seed) noexcept;

/// 128 bits of XXH3, in the order in which XXH writes them (high half first, big endian).
struct hash_128 {
  std::array<std::uint8_t, 16> bytes{};

  /// The bytes, valid while the hash exists.
  std::string_view view() const noexcept {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
};

/// XXH3-128 of `bytes` with a seed. The same on every machine: the remote tier's format uses it.
hash_128 fast_hash_128(std::string_view bytes, std::uint64_t seed = 0) noexcept;

/// A random seed of this process, so that keys cannot be made to collide in memory.
std::uint64_t process_seed() noexcept;

} // namespace hearth
