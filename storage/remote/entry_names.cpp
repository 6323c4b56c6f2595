#include "storage/remote/entry_names.hpp"

#include "messages/hash.hpp"
#include "messages/hex.hpp"
#include "messages/value.hpp"

namespace hearth::storage {
namespace {

constexpr std::size_t digits_of_hash = 32;

// The text of a key; empty for a key of another kind.
std::string text_of(const cache_key& key) {
  const auto decoded = decode_value(key.bytes);
  const auto* text = decoded ? decoded->as<std::string>() : nullptr;
  return text ? *text : std::string();
}

} // namespace

std::string start_of_names(const remote_naming& naming, const cache_id& cache) {
  std::string start(naming.prefix);
  return start.append(":").append(cache.name()).append(":").append(cache.version()).append(":");
}

std::size_t hash_size(const remote_naming& naming) noexcept {
  return naming.has_hash_tags ? digits_of_hash + 2 : digits_of_hash;
}

std::string remote_entry_name(const remote_naming& naming, const cache_key& key) {
  if (key.cache->foreign) return text_of(key);
  const auto hash = fast_hash_128(key.bytes);
  auto name = start_of_names(naming, key.cache->id);
  if (naming.has_hash_tags) name += '{';
  append_hex(name, hash.view());
  if (naming.has_hash_tags) name += '}';
  return name;
}

std::string remote_lease_name(const remote_naming& naming, const cache_key& key) {
  return remote_entry_name(naming, key).append(":lease");
}

std::string remote_set_name(const remote_naming& naming, const cache_key& key) {
  return remote_entry_name(naming, key).append(":set");
}

} // namespace hearth::storage
