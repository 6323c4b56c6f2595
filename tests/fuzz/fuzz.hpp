// Shared by the fuzz targets: a check that ends the run, and functions that take the input apart.
// Built by clang with libFuzzer (preset `fuzz`).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace hearth::fuzz {

/// Ends the run and keeps the input when `holds` is false.
inline void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "fuzz: %s\n", what);
  std::abort();
}

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

/// Takes one byte from the front; returns 0 when the input is empty.
inline std::uint8_t take_byte(std::string_view& bytes) {
  if (bytes.empty()) return 0;
  const auto byte = static_cast<std::uint8_t>(bytes.front());
  bytes.remove_prefix(1);
  return byte;
}

} // namespace hearth::fuzz
