// XXH3-64 of bytes, and of bytes while they are copied: one pass over memory instead of two.
//
// Pure functions, any thread. The result is XXH3_64bits with seed 0, bit for bit, on every machine;
// AVX2 is used where the processor has it, libxxhash's code elsewhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace hearth::storage {

/// Copies `bytes` bytes and returns the hash of the copy. If the source changes meanwhile, the hash
/// is that of the bytes at `to`, or fits neither.
std::uint64_t copy_and_hash(char* to, const char* from, std::size_t bytes) noexcept;

/// The hash alone.
std::uint64_t hash_bytes(const char* data, std::size_t bytes) noexcept;
inline std::uint64_t hash_bytes(std::string_view bytes) noexcept {
  return hash_bytes(bytes.data(), bytes.size());
}

/// The hash with a seed (for headers: short).
std::uint64_t hash_seeded(const void* data, std::size_t bytes, std::uint64_t seed) noexcept;

/// The portable implementation. For tests, which compare the two.
std::uint64_t copy_and_hash_portable(char* to, const char* from, std::size_t bytes) noexcept;
/// Whether the AVX2 implementation is in use.
bool has_fast_copy_hash() noexcept;

} // namespace hearth::storage
