#include "storage/memory/allocator_charge.hpp"

// jemalloc's: the size that it gives for a request. Not there without it.
extern "C" std::size_t nallocx(std::size_t bytes, int flags) noexcept __attribute__((weak));

namespace hearth::storage {

bool has_jemalloc() noexcept { return nallocx != nullptr; }

std::size_t allocator_charge(std::size_t bytes) noexcept {
  return has_jemalloc() ? nallocx(bytes, 0) : glibc_charge(bytes);
}

} // namespace hearth::storage
