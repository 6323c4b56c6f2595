#include "messages/digest.hpp"
#include "storage/remote/envelope.hpp"

namespace hearth::storage {

std::string remote_entry_name(std::string_view prefix, const cache_key& key) {
  std::string name(prefix);
  name.append(":").append(key.cache->id.name());
  name.append(":").append(key.cache->id.version());
  return name.append(":").append(sha256(key.bytes).hex());
}

std::string remote_lease_name(std::string_view prefix, const cache_key& key) {
  return remote_entry_name(prefix, key).append(":lease");
}

} // namespace hearth::storage
