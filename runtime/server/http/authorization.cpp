#include "runtime/server/http/authorization.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace hearth::server {
namespace {

// The value of a digit of base64; -1: it is none.
constexpr int base64_digit(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == '+') return 62;
  return c == '/' ? 63 : -1;
}

std::optional<std::string> decode_base64(std::string_view text) {
  while (text.ends_with('=') && text.size() % 4 != 1)
    text.remove_suffix(1);
  std::string bytes;
  std::uint32_t bits = 0;
  unsigned count = 0;
  for (const char c : text) {
    const auto digit = base64_digit(c);
    if (digit < 0) return std::nullopt;
    bits = bits << 6 | static_cast<unsigned>(digit);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes += static_cast<char>(bits >> count & 0xff);
  }
  if (count >= 6) return std::nullopt;
  return bytes;
}

bool is_scheme(std::string_view given, std::string_view wanted) {
  if (given.size() != wanted.size()) return false;
  for (std::size_t i = 0; i < given.size(); ++i)
    if ((given[i] | 0x20) != wanted[i]) return false;
  return true;
}

std::optional<shown_credentials> parse_basic(std::string_view text) {
  const auto pair = decode_base64(text);
  if (!pair) return std::nullopt;
  const auto colon = pair->find(':');
  if (colon == std::string::npos) return std::nullopt;
  return shown_credentials{false, pair->substr(0, colon), pair->substr(colon + 1)};
}

} // namespace

std::optional<shown_credentials> parse_authorization(std::string_view header) {
  const auto space = header.find(' ');
  if (space == std::string_view::npos) return std::nullopt;
  const auto scheme = header.substr(0, space);
  auto rest = header.substr(space);
  rest.remove_prefix(std::min(rest.size(), rest.find_first_not_of(' ')));
  if (rest.empty()) return std::nullopt;
  if (is_scheme(scheme, "basic")) return parse_basic(rest);
  if (is_scheme(scheme, "bearer")) return shown_credentials{true, {}, std::string(rest)};
  return std::nullopt;
}

} // namespace hearth::server
