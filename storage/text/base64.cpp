#include "storage/text/base64.hpp"

#include <array>
#include <cstdint>

namespace hearth::storage {
namespace {

constexpr std::string_view alphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::uint8_t no_digit = 255;

constexpr auto digits = [] {
  std::array<std::uint8_t, 256> table{};
  table.fill(no_digit);
  for (std::size_t i = 0; i < alphabet.size(); ++i)
    table[static_cast<unsigned char>(alphabet[i])] = static_cast<std::uint8_t>(i);
  return table;
}();

} // namespace

std::string encode_base64(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const auto byte = [&](std::size_t at) {
      return at < bytes.size() ? std::uint32_t{static_cast<unsigned char>(bytes[at])} : 0;
    };
    const auto group = byte(i) << 16 | byte(i + 1) << 8 | byte(i + 2);
    text += alphabet[group >> 18];
    text += alphabet[group >> 12 & 63];
    text += i + 1 < bytes.size() ? alphabet[group >> 6 & 63] : '=';
    text += i + 2 < bytes.size() ? alphabet[group & 63] : '=';
  }
  return text;
}

expected<std::string> decode_base64(std::string_view text) {
  if (text.size() % 4 != 0)
    return fail(errc::malformed, "base64 of " + std::to_string(text.size()) +
                                     " characters; padded base64 has a multiple of 4");
  std::size_t padding = 0;
  while (padding < 2 && padding < text.size() && text[text.size() - 1 - padding] == '=')
    ++padding;
  const auto body = text.substr(0, text.size() - padding);
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3);
  std::uint32_t group = 0;
  unsigned bits = 0;
  for (std::size_t i = 0; i < body.size(); ++i) {
    const auto digit = digits[static_cast<unsigned char>(body[i])];
    if (digit == no_digit)
      return fail(errc::malformed,
                  "base64 with a wrong character at position " + std::to_string(i + 1));
    group = (group << 6 | digit) & 0xffffff;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes += static_cast<char>(group >> bits & 0xff);
  }
  if ((group & ((1u << bits) - 1)) != 0)
    return fail(errc::malformed, "base64 whose last character has bits left over");
  return bytes;
}

} // namespace hearth::storage
