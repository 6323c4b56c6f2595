#include "storage/memory/allocator_charge.hpp"

// jemalloc's function: the size that it allocates for a request. Null without jemalloc.
extern "C" std::size_t nallocx(std::size_t bytes, int flags) noexcept __attribute__((weak));

namespace hearth::storage {

bool has_jemalloc() noexcept { return nallocx != nullptr; }

std::size_t allocator_charge(std::size_t bytes) noexcept {
  return has_jemalloc() ? nallocx(bytes, 0) : glibc_charge(bytes);
}

} // namespace hearth::storage
