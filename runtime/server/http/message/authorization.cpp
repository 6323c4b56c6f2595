#include "runtime/server/http/message/authorization.hpp"

#include "runtime/server/access/ascii_case.hpp"
#include "storage/text/base64.hpp"

#include <algorithm>
#include <utility>

namespace hearth::server {
namespace {

// Some clients leave the padding out.
std::optional<std::string> decode_unpadded(std::string_view text) {
  while (text.ends_with('='))
    text.remove_suffix(1);
  std::string padded(text);
  padded.append((4 - padded.size() % 4) % 4, '=');
  auto bytes = storage::decode_base64(padded);
  return bytes ? std::optional(std::move(*bytes)) : std::nullopt;
}

std::optional<shown_credentials> parse_basic(std::string_view text) {
  const auto pair = decode_unpadded(text);
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
  if (equal_ignoring_case(scheme, "basic")) return parse_basic(rest);
  if (equal_ignoring_case(scheme, "bearer")) return shown_credentials{true, {}, std::string(rest)};
  return std::nullopt;
}

} // namespace hearth::server
