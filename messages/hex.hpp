// Bytes as hexadecimal digits. Pure functions, any thread.
#pragma once

#include <string>
#include <string_view>

namespace hearth {

/// Appends two lower-case digits a byte.
inline void append_hex(std::string& out, std::string_view bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  const auto before = out.size();
  out.resize(before + 2 * bytes.size());
  auto* at = out.data() + before;
  for (const char byte : bytes) {
    const auto bits = static_cast<unsigned char>(byte);
    *at++ = digits[bits >> 4];
    *at++ = digits[bits & 15];
  }
}

} // namespace hearth
