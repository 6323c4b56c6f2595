#include "storage/memory/allocator_charge.hpp"

// jemalloc's: the size that it gives for a request. Not there without it.
extern "C" std::size_t nallocx(std::size_t bytes, int flags) noexcept __attribute__((weak));

namespace hearth::storage {

std::size_t allocator_charge(std::size_t bytes) noexcept {
  return nallocx ? nallocx(bytes, 0) : glibc_charge(bytes);
}

} // namespace hearth::storage
