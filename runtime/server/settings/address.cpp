#include "runtime/server/settings/server_settings.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <cctype>
#include <charconv>
#include <cstring>

namespace hearth::server {
namespace {

constexpr std::size_t max_host_bytes = 253;

tl::unexpected<error> no_address(std::string_view address, std::string_view why) {
  return fail(errc::malformed, "'" + std::string(address) + "' is no address: " + std::string(why) +
                                   "; write HOST:PORT, [IPV6]:PORT or unix:/PATH");
}

// The bytes of an IPv6 address, or of an IPv4 address as IPv6 maps it; empty for anything else.
std::optional<std::array<unsigned char, 16>> numeric_address(std::string_view host) {
  std::array<unsigned char, 16> bytes{};
  const std::string text(host);
  if (text.find('\0') != text.npos) return std::nullopt; // inet_pton would stop there
  if (::inet_pton(AF_INET6, text.c_str(), bytes.data()) == 1) return bytes;
  bytes = {};
  bytes[10] = bytes[11] = 0xff;
  if (::inet_pton(AF_INET, text.c_str(), bytes.data() + 12) == 1) return bytes;
  return std::nullopt;
}

bool is_host_name(std::string_view text) {
  constexpr std::string_view allowed =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.-_";
  if (text.empty() || text.size() > max_host_bytes || text.find_first_not_of(allowed) != text.npos)
    return false;
  // Digits and points are an IPv4 address or a mistake.
  return text.find_first_not_of("0123456789.") != text.npos || numeric_address(text);
}

std::optional<std::uint16_t> port_of(std::string_view digits) {
  std::uint16_t port = 0;
  const auto* const end = digits.data() + digits.size();
  const auto [stop, problem] = std::from_chars(digits.data(), end, port);
  if (problem != std::errc{} || stop != end) return std::nullopt;
  return port;
}

} // namespace

expected<host_and_port> parse_address(std::string_view address) {
  const auto colon = address.rfind(':');
  if (colon == address.npos) return no_address(address, "it has no port");
  const auto port = port_of(address.substr(colon + 1));
  if (!port) return no_address(address, "its port is no number from 0 to 65535");
  auto host = address.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
    if (host.find(':') == host.npos || !numeric_address(host))
      return no_address(address, "what stands in [] is no IPv6 address");
  } else if (host.find(':') != host.npos) {
    return no_address(address, "an IPv6 address has to stand in []");
  } else if (!is_host_name(host)) {
    return no_address(address, "its host is no name and no IPv4 address");
  }
  return host_and_port{std::string(host), *port};
}

bool is_loopback(std::string_view host) {
  constexpr std::string_view local_name = "localhost";
  if (std::equal(host.begin(), host.end(), local_name.begin(), local_name.end(),
                 [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; }))
    return true;
  const auto bytes = numeric_address(host);
  if (!bytes) return false;
  constexpr std::array<unsigned char, 16> loopback{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
  constexpr std::array<unsigned char, 13> mapped_127{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127};
  return *bytes == loopback || std::equal(mapped_127.begin(), mapped_127.end(), bytes->begin());
}

} // namespace hearth::server
