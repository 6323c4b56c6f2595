// The bytes that the allocator takes for a request: memory use counts these, not the requested
// bytes. Plain functions, any thread.
#pragma once

#include <cstddef>

namespace hearth::storage {

/// The charge of glibc, including its header and the rounding.
constexpr std::size_t glibc_charge(std::size_t bytes) noexcept {
  constexpr std::size_t page = 4096, mapped_from = 128u << 10;
  if (bytes >= mapped_from) return (bytes + 16 + page - 1) / page * page;
  return bytes <= 24 ? 32 : (bytes + 8 + 15) / 16 * 16;
}

/// Whether jemalloc is the allocator of this process.
bool has_jemalloc() noexcept;

/// The charge of this process's allocator: asks jemalloc, and assumes glibc for any other.
std::size_t allocator_charge(std::size_t bytes) noexcept;

/// The type of both functions.
using charge_function = std::size_t (*)(std::size_t bytes) noexcept;

} // namespace hearth::storage
