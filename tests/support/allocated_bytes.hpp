// What the process's allocator says that it has given out: glibc's, jemalloc or a sanitizer's.
#pragma once

#include <cstdint>
#include <string>

namespace hearth::test {

std::uint64_t allocated_bytes();
/// "glibc", "jemalloc" or "sanitizer".
std::string allocator_name();

} // namespace hearth::test
