#include "messages/key.hpp"

#include "messages/digest.hpp"
#include "messages/hex.hpp"
#include "messages/value.hpp"

#include <algorithm>
#include <msgpack.hpp>

namespace hearth {
namespace {

// What msgpack writes to: a text that is as long as it has to be (its own buffer begins with 8
// KiB).
struct text_stream {
  std::string& text;
  void write(const char* bytes, std::size_t count) { text.append(bytes, count); }
};

// `bytes`: the room for what is packed, with its head of at most five bytes.
template <class Pack>
std::string packed(std::size_t bytes, Pack&& pack) {
  constexpr std::size_t head_bytes = 5;
  std::string text;
  text.reserve(bytes + head_bytes);
  text_stream stream{text};
  msgpack::packer<text_stream> out(stream);
  pack(out);
  return text;
}

bool is_key(const value& v, int depth) {
  if (const auto* items = v.as<value::array>())
    return depth < max_key_depth && std::all_of(items->begin(), items->end(), [&](const value& x) {
             return is_key(x, depth + 1);
           });
  return v.as<std::string>() || v.as<std::int64_t>() || v.as<binary>();
}

void describe_into(std::string& out, const value& v, std::size_t limit) {
  if (out.size() > limit) return;
  if (const auto* text = v.as<std::string>()) {
    out += '"' + text->substr(0, limit) + '"';
  } else if (const auto* number = v.as<std::int64_t>()) {
    out += std::to_string(*number);
  } else if (const auto* raw = v.as<binary>()) {
    out += "b'";
    append_hex(out, std::string_view(raw->bytes).substr(0, limit / 2));
    out += '\'';
  } else if (const auto* items = v.as<value::array>()) {
    out += '(';
    for (std::size_t i = 0; i < items->size(); ++i) {
      if (i > 0) out += ", ";
      describe_into(out, (*items)[i], limit);
    }
    out += ')';
  }
}

} // namespace

key::key(std::string_view text)
    : encoded_(packed(text.size(), [&](auto& out) {
      out.pack_str(static_cast<std::uint32_t>(text.size()));
      out.pack_str_body(text.data(), static_cast<std::uint32_t>(text.size()));
    })) {}

key key::integer(std::int64_t number) {
  return {from_encoded{}, packed(sizeof number, [&](auto& out) { out.pack_int64(number); })};
}

key key::bytes(std::string_view raw) {
  return {from_encoded{}, packed(raw.size(), [&](auto& out) {
            out.pack_bin(static_cast<std::uint32_t>(raw.size()));
            out.pack_bin_body(raw.data(), static_cast<std::uint32_t>(raw.size()));
          })};
}

key key::tuple(std::span<const key> items) {
  auto encoded =
      packed(0, [&](auto& out) { out.pack_array(static_cast<std::uint32_t>(items.size())); });
  for (const auto& item : items)
    encoded += item.encoded();
  return {from_encoded{}, std::move(encoded)};
}

expected<key> key::decode(std::string_view bytes) {
  if (bytes.size() > max_key_bytes)
    return fail(errc::invalid_key, "a key of " + std::to_string(bytes.size()) + " bytes; " +
                                       std::to_string(max_key_bytes) + " are allowed");
  auto decoded = decode_value(bytes);
  if (!decoded) return fail(errc::invalid_key, "a key that is " + decoded.error().text());
  if (!is_key(*decoded, 0))
    return fail(errc::invalid_key, "a key is a str, int, bin or an array of keys, at most 32 deep");
  if (encode(*decoded) != bytes)
    return fail(errc::invalid_key, "a key that is not in its canonical (shortest) form");
  return key{from_encoded{}, std::string(bytes)};
}

std::string key::describe(std::size_t limit) const {
  const auto decoded = decode_value(encoded_);
  if (!decoded) return "(unreadable key)";
  std::string text;
  describe_into(text, *decoded, limit);
  if (text.size() > limit) text = text.substr(0, limit) + "...";
  return text;
}

} // namespace hearth
