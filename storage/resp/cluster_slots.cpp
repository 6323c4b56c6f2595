#include "storage/resp/cluster_slots.hpp"

#include <array>
#include <charconv>

namespace hearth::storage {
namespace {

// CRC-16/XMODEM: polynomial 0x1021, starts with zero, not reflected.
constexpr std::array<std::uint16_t, 256> make_crc_table() {
  std::array<std::uint16_t, 256> table{};
  for (unsigned byte = 0; byte < table.size(); ++byte) {
    unsigned value = byte << 8;
    for (int bit = 0; bit < 8; ++bit)
      value = (value & 0x8000u) != 0 ? (value << 1) ^ 0x1021u : value << 1;
    table[byte] = static_cast<std::uint16_t>(value);
  }
  return table;
}

constexpr auto crc_table = make_crc_table();

std::uint16_t crc16(std::string_view bytes) noexcept {
  unsigned value = 0;
  for (const char byte : bytes)
    value = ((value << 8) & 0xffffu) ^ crc_table[(value >> 8) ^ static_cast<unsigned char>(byte)];
  return static_cast<std::uint16_t>(value);
}

// What is hashed of a name: the text between the first `{` and the first `}` behind it, unless it
// is empty.
std::string_view hashed_part(std::string_view name) noexcept {
  const auto open = name.find('{');
  if (open == std::string_view::npos) return name;
  const auto close = name.find('}', open + 1);
  if (close == std::string_view::npos || close == open + 1) return name;
  return name.substr(open + 1, close - open - 1);
}

template <class Number>
bool read_number(std::string_view digits, Number& number) {
  const auto* end = digits.data() + digits.size();
  const auto parsed = std::from_chars(digits.data(), end, number);
  return parsed.ec == std::errc{} && parsed.ptr == end;
}

std::optional<cluster_address> address_in(std::string_view text) {
  // The port stands behind the last colon; an IPv6 address has more of them, without brackets.
  const auto colon = text.rfind(':');
  cluster_address address;
  if (colon == std::string_view::npos || !read_number(text.substr(colon + 1), address.port) ||
      address.port == 0)
    return {};
  auto host = text.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  if (host == "?") return {}; // the node does not know it
  address.host = host;
  return address;
}

std::optional<slot_range> range_in(const resp_value& item) {
  constexpr auto integer = resp_value::kind::integer;
  constexpr auto array = resp_value::kind::array;
  const auto is_slot = [](const resp_value& value) {
    return value.type == integer && value.integer >= 0 &&
           value.integer < static_cast<std::int64_t>(cluster_slots);
  };
  if (item.type != array || item.items.size() < 3 || !is_slot(item.items[0]) ||
      !is_slot(item.items[1]) || item.items[0].integer > item.items[1].integer)
    return {};
  const auto& node = item.items[2];
  if (node.type != array || node.items.size() < 2 || node.items[1].type != integer) return {};
  slot_range range;
  range.first = static_cast<std::uint16_t>(item.items[0].integer);
  range.last = static_cast<std::uint16_t>(item.items[1].integer);
  range.leader.host = node.items[0].text; // null: the host that was asked
  const auto port = node.items[1].integer;
  range.leader.port = port > 0 && port <= 65535 ? static_cast<std::uint16_t>(port) : 0;
  return range;
}

} // namespace

std::uint16_t slot_of(std::string_view name) noexcept {
  return static_cast<std::uint16_t>(crc16(hashed_part(name)) % cluster_slots);
}

std::optional<std::string_view> name_in(std::span<const std::string> command) noexcept {
  if (command.size() < 2) return {};
  const std::string_view word = command.front();
  if (word == "EVAL") {
    if (command.size() < 4 || command[2] == "0") return {};
    return command[3];
  }
  if (word == "XREAD") {
    for (std::size_t i = 1; i + 1 < command.size(); ++i)
      if (command[i] == "STREAMS") return command[i + 1];
    return {};
  }
  for (const std::string_view nameless : {"PING", "SCAN", "CLUSTER", "CLIENT", "INFO", "CONFIG"})
    if (word == nameless) return {};
  return command[1];
}

std::string to_string(const cluster_address& address) {
  const bool brackets = address.host.find(':') != std::string::npos;
  return (brackets ? "[" + address.host + "]" : address.host) + ":" + std::to_string(address.port);
}

std::optional<std::vector<slot_range>> slot_ranges_in(const resp_value& reply) {
  if (reply.type != resp_value::kind::array) return {};
  std::vector<slot_range> ranges;
  std::size_t slots = 0;
  for (const auto& item : reply.items) {
    auto range = range_in(item);
    if (!range) return {};
    slots += range->last - range->first + 1u;
    if (slots > cluster_slots) return {}; // some are told of twice
    if (range->leader.port != 0 && range->leader.host != "?") ranges.push_back(std::move(*range));
  }
  return ranges;
}

std::optional<cluster_redirect> redirect_in(std::string_view error) {
  const bool is_once = error.starts_with("ASK ");
  if (!is_once && !error.starts_with("MOVED ")) return {};
  error.remove_prefix(error.find(' ') + 1);
  const auto blank = error.find(' ');
  cluster_redirect redirect;
  redirect.is_once = is_once;
  if (blank == std::string_view::npos || !read_number(error.substr(0, blank), redirect.slot) ||
      redirect.slot >= cluster_slots)
    return {};
  const auto to = address_in(error.substr(blank + 1));
  if (!to) return {};
  redirect.to = *to;
  return redirect;
}

} // namespace hearth::storage
