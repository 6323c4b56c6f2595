// The fast hash that finds things (XXH3, 64 bits). It never decides: what it finds is compared
// whole. Pure functions, any thread.
#pragma once

#include <cstdint>
#include <string_view>

namespace hearth {

/// XXH3-64 of `bytes` with seed 0. The same on every machine: formats on disk use it.
std::uint64_t fast_hash(std::string_view bytes) noexcept;

/// XXH3-64 of `bytes` with a seed.
std::uint64_t fast_hash(std::string_view bytes, std::uint64_t seed) noexcept;

/// A random seed of this process, against keys made to collide in memory.
std::uint64_t process_seed() noexcept;

} // namespace hearth
