#include "storage/text/plain_entries.hpp"

#include "storage/text/base64.hpp"

#include <algorithm>
#include <limits>
#include <msgpack.hpp>
#include <unordered_map>

namespace hearth::storage {
namespace {

constexpr std::string_view white_space = " \t\n\v\f\r";

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(white_space);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(white_space) - first + 1);
}

expected<key> key_of(std::string_view base64) {
  const auto bytes = decode_base64(base64);
  if (!bytes) return fail(bytes.error().within("key"));
  auto decoded = key::decode(*bytes);
  if (!decoded) return fail(decoded.error().within("key"));
  return decoded;
}

expected<value> value_of(std::string_view base64) {
  const auto bytes = decode_base64(base64);
  if (!bytes) return fail(bytes.error().within("value"));
  auto decoded = decode_value(*bytes);
  if (!decoded) return fail(decoded.error().within("value"));
  return decoded;
}

expected<plain_entry> parse_pair(std::string_view pair) {
  const auto comma = pair.find(',');
  if (comma == std::string_view::npos)
    return fail(errc::malformed, "no comma between key and value");
  auto name = key_of(trimmed(pair.substr(0, comma)));
  if (!name) return fail(name.error());
  auto content = value_of(trimmed(pair.substr(comma + 1)));
  if (!content) return fail(content.error());
  return plain_entry{std::move(*name), std::move(*content), 0};
}

error in_pair(std::size_t number, const error& why) {
  return why.within("pair " + std::to_string(number));
}

// The end of the msgpack object that starts at `offset`.
expected<std::size_t> end_of_object(std::string_view bytes, std::size_t offset) {
  msgpack::null_visitor nothing;
  if (msgpack::parse(bytes.data(), bytes.size(), offset, nothing)) return offset;
  return fail(errc::malformed, "cut short or not msgpack");
}

std::uint64_t big_endian(std::string_view bytes) {
  std::uint64_t number = 0;
  for (const char c : bytes)
    number = number << 8 | static_cast<unsigned char>(c);
  return number;
}

struct map_header {
  std::uint64_t pairs;
  std::size_t bytes;
};

// The first bytes of a map: 0x8n, 0xde and 16 bits, 0xdf and 32 bits.
expected<map_header> read_map_header(std::string_view bytes) {
  if (bytes.empty()) return fail(errc::malformed, "empty; a msgpack map is expected");
  const auto first = static_cast<unsigned char>(bytes[0]);
  if ((first & 0xf0) == 0x80) return map_header{first & 0x0fu, 1};
  const std::size_t size = first == 0xde ? 2 : first == 0xdf ? 4 : 0;
  if (size == 0) return fail(errc::malformed, "not a msgpack map");
  if (bytes.size() < 1 + size) return fail(errc::malformed, "cut short in the map's header");
  return map_header{big_endian(bytes.substr(1, size)), 1 + size};
}

expected<plain_entry> decode_entry(std::string_view bytes, std::size_t& offset) {
  const auto key_end = end_of_object(bytes, offset);
  if (!key_end) return fail(key_end.error().within("key"));
  auto name = key::decode(bytes.substr(offset, *key_end - offset));
  if (!name) return fail(name.error().within("key"));
  const auto value_end = end_of_object(bytes, *key_end);
  if (!value_end) return fail(value_end.error().within("value"));
  auto content = decode_value(bytes.substr(*key_end, *value_end - *key_end));
  if (!content) return fail(content.error().within("value"));
  offset = *value_end;
  return plain_entry{std::move(*name), std::move(*content), 0};
}

} // namespace

expected<plain_entries> parse_pairs(std::string_view text) {
  plain_entries entries;
  std::unordered_map<std::string, std::size_t> known;
  std::size_t number = 0;
  for (std::size_t begin = 0; begin <= text.size();) {
    const auto end = std::min(text.find(';', begin), text.size());
    const auto pair = trimmed(text.substr(begin, end - begin));
    begin = end + 1;
    ++number;
    if (pair.empty()) continue;
    auto entry = parse_pair(pair);
    if (!entry) return fail(in_pair(number, entry.error()));
    entry->pair = number;
    const auto [at, is_new] = known.try_emplace(entry->name.encoded(), entries.size());
    if (is_new)
      entries.push_back(std::move(*entry));
    else if (!(entries[at->second].content == entry->content))
      return fail(in_pair(number, {errc::invalid_value,
                                   "key " + entry->name.describe() + " has another value before"}));
  }
  return entries;
}

std::string print_pairs(const plain_entries& entries) {
  std::string text;
  for (const auto& entry : entries) {
    if (!text.empty()) text += ';';
    text += encode_base64(entry.name.encoded()) + ',' + encode_base64(encode(entry.content));
  }
  return text;
}

expected<plain_entries> decode_map(std::string_view bytes) {
  const auto header = read_map_header(bytes);
  if (!header) return fail(header.error());
  plain_entries entries;
  std::unordered_map<std::string, std::size_t> known;
  auto offset = header->bytes;
  for (std::uint64_t number = 1; number <= header->pairs; ++number) {
    auto entry = decode_entry(bytes, offset);
    if (!entry) return fail(in_pair(number, entry.error()));
    entry->pair = number;
    if (!known.try_emplace(entry->name.encoded(), number).second)
      return fail(
          in_pair(number, {errc::malformed, "key " + entry->name.describe() + " came before"}));
    entries.push_back(std::move(*entry));
  }
  if (offset != bytes.size())
    return fail(errc::malformed,
                std::to_string(bytes.size() - offset) + " bytes left over after the map");
  return entries;
}

std::string encode_map(plain_entries entries) {
  std::sort(entries.begin(), entries.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  msgpack::sbuffer header;
  msgpack::packer<msgpack::sbuffer>(header).pack_map(static_cast<std::uint32_t>(entries.size()));
  std::string bytes(header.data(), header.size());
  for (const auto& entry : entries)
    bytes += entry.name.encoded() + encode(entry.content);
  return bytes;
}

} // namespace hearth::storage
