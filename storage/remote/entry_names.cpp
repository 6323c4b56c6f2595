#include "messages/digest.hpp"
#include "storage/remote/envelope.hpp"

namespace hearth::storage {

std::string remote_entry_name(std::string_view prefix, const cache_key& key) {
  const auto& id = key.cache->id;
  const auto hex = sha256(key.bytes).hex();
  std::string name;
  name.reserve(prefix.size() + id.name().size() + id.version().size() + hex.size() + 3);
  name.append(prefix).append(":").append(id.name()).append(":").append(id.version());
  return name.append(":").append(hex);
}

std::string remote_lease_name(std::string_view prefix, const cache_key& key) {
  return remote_entry_name(prefix, key).append(":lease");
}

} // namespace hearth::storage
