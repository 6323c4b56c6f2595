// The names of what belongs to an entry on a server of the Redis protocol. Pure functions.
#pragma once

#include "messages/cache_key.hpp"

#include <string>

namespace hearth::storage {

/// How names on the server are made.
struct remote_naming {
  std::string prefix = "hearth"; ///< of every name
  /// The hash in braces, `hearth:default:0:{ab12..}`: a cluster keeps all that belongs to an entry
  /// in one slot.
  bool has_hash_tags = false;
};

/// The names of a cache's entries up to the hash: prefix, cache and version, each with a colon.
std::string start_of_names(const remote_naming& naming, const cache_id& cache);
/// How many characters the hash takes in a name.
std::size_t hash_size(const remote_naming& naming) noexcept;

/// The name of an entry in the remote tier: prefix, cache, version and the XXH3-128 of the key's
/// bytes in hexadecimal, joined by colons: "hearth:default:0:ab12..". In a foreign cache the key,
/// which is a text.
std::string remote_entry_name(const remote_naming& naming, const cache_key& key);
/// The name of the lease of an entry: the entry's name and ":lease".
std::string remote_lease_name(const remote_naming& naming, const cache_key& key);
/// The name of an entry that grows: the entry's name and ":set".
std::string remote_set_name(const remote_naming& naming, const cache_key& key);

} // namespace hearth::storage
