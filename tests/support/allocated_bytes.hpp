// The bytes that the process's allocator (glibc, jemalloc or a sanitizer) has given out.
#pragma once

#include <cstdint>
#include <string>

namespace hearth::test {

std::uint64_t allocated_bytes();
/// "glibc", "jemalloc" or "sanitizer".
std::string allocator_name();

} // namespace hearth::test
