#include "messages/hash.hpp"
#include "messages/hex.hpp"
#include "messages/value.hpp"
#include "storage/remote/envelope.hpp"

namespace hearth::storage {
namespace {

// The text of a key; empty for a key of another kind.
std::string text_of(const cache_key& key) {
  const auto decoded = decode_value(key.bytes);
  const auto* text = decoded ? decoded->as<std::string>() : nullptr;
  return text ? *text : std::string();
}

} // namespace

std::string remote_entry_name(std::string_view prefix, const cache_key& key) {
  if (key.cache->foreign) return text_of(key);
  const auto& id = key.cache->id;
  const auto hash = fast_hash_128(key.bytes);
  std::string name;
  name.reserve(prefix.size() + id.name().size() + id.version().size() + 2 * hash.bytes.size() + 3);
  name.append(prefix).append(":").append(id.name()).append(":").append(id.version()).append(":");
  append_hex(name, hash.view());
  return name;
}

std::string remote_lease_name(std::string_view prefix, const cache_key& key) {
  return remote_entry_name(prefix, key).append(":lease");
}

} // namespace hearth::storage
