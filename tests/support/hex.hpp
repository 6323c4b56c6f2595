// Bytes as text, for comparison with written values.
#pragma once

#include "messages/hex.hpp"

#include <string>
#include <string_view>

namespace hearth::test {

/// Two lower-case hexadecimal digits for each byte.
inline std::string hex(std::string_view bytes) {
  std::string text;
  append_hex(text, bytes);
  return text;
}

} // namespace hearth::test
