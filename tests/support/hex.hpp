// Bytes as tests compare them with what is written down.
#pragma once

#include <string>
#include <string_view>

namespace hearth::test {

/// Two lower-case hexadecimal digits a byte.
inline std::string hex(std::string_view bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (const char c : bytes) {
    text += digits[static_cast<unsigned char>(c) >> 4];
    text += digits[static_cast<unsigned char>(c) & 15];
  }
  return text;
}

} // namespace hearth::test
