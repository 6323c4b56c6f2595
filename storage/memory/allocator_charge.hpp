// What the allocator takes for a request: memory is told by what it costs, not by what was asked
// for. Plain functions, any thread.
#pragma once

#include <cstddef>

namespace hearth::storage {

/// glibc's: its header and the rounding included.
constexpr std::size_t glibc_charge(std::size_t bytes) noexcept {
  constexpr std::size_t page = 4096, mapped_from = 128u << 10;
  if (bytes >= mapped_from) return (bytes + 16 + page - 1) / page * page;
  return bytes <= 24 ? 32 : (bytes + 8 + 15) / 16 * 16;
}

/// Whether jemalloc is the allocator of this process.
bool has_jemalloc() noexcept;

/// That of this process's allocator: jemalloc is asked, any other is taken for glibc's.
std::size_t allocator_charge(std::size_t bytes) noexcept;

/// Either of them.
using charge_function = std::size_t (*)(std::size_t bytes) noexcept;

} // namespace hearth::storage
