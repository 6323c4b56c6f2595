#include "tests/support/allocated_bytes.hpp"

#include <cstddef>
#include <cstdlib>
#include <malloc.h>

// A function of jemalloc; null without it.
extern "C" int mallctl(const char* name, void* old_value, std::size_t* old_size, void* new_value,
                       std::size_t new_size) noexcept __attribute__((weak));

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
extern "C" std::size_t __sanitizer_get_current_allocated_bytes(); // GCC has no header for it
#endif

namespace hearth::test {
namespace {

std::uint64_t jemalloc_bytes() {
  std::uint64_t epoch = 1; // updates the statistics
  std::size_t allocated = 0, size = sizeof allocated;
  // The thread's cache of freed memory counts as allocated, so it is flushed.
  if (mallctl("thread.tcache.flush", nullptr, nullptr, nullptr, 0) != 0 ||
      mallctl("epoch", nullptr, nullptr, &epoch, sizeof epoch) != 0 ||
      mallctl("stats.allocated", &allocated, &size, nullptr, 0) != 0)
    std::abort();
  return allocated;
}

} // namespace

std::uint64_t allocated_bytes() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return __sanitizer_get_current_allocated_bytes();
#else
  if (mallctl) return jemalloc_bytes();
  const auto info = ::mallinfo2();
  return info.uordblks + info.hblkhd;
#endif
}

std::string allocator_name() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return "sanitizer";
#else
  return mallctl ? "jemalloc" : "glibc";
#endif
}

} // namespace hearth::test
