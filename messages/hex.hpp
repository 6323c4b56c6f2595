// Bytes as hexadecimal digits. Pure functions, any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace hearth {

/// The value of a digit in either case; -1 if it is not a digit.
constexpr int hex_digit(char c) noexcept {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/// The byte of two digits; empty if one of them is not a digit.
constexpr std::optional<char> hex_byte(char high, char low) noexcept {
  if (hex_digit(high) < 0 || hex_digit(low) < 0) return std::nullopt;
  return static_cast<char>(hex_digit(high) * 16 + hex_digit(low));
}

/// Appends two lower-case digits for each byte.
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

/// Appends `\x` and the digits of a byte, for bytes that cannot be printed.
inline void append_hex_escape(std::string& out, char byte) {
  out += "\\x";
  append_hex(out, {&byte, 1});
}

} // namespace hearth
