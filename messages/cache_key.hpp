// A key together with the named cache it belongs to: how messages say which entry they mean.
// Plain value, any thread.
#pragma once

#include "messages/cache_id.hpp"
#include "messages/hash.hpp"
#include "messages/key.hpp"
#include "messages/key_bytes.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace hearth {

/// A named cache as the runtime knows it: its identity, its number in this process, and how it is
/// kept.
struct named_cache {
  cache_id id;
  std::uint32_t number;      ///< of name and version, in this process
  std::uint64_t memory_seed; ///< of the hash in memory: `id.seed() ^ process_seed()`
  bool memory = true;
  bool disk = true;
  bool remote = true;
  std::uint64_t memory_share_bytes = 0; ///< of the memory budget, its own; 0: shares with others
  bool compress = false;                ///< its values on disk
  bool sign = false;                    ///< its entries in the remote tier
};

using named_cache_ptr = std::shared_ptr<const named_cache>;

/// Which entry of which cache, hashed once for each tier.
struct cache_key {
  cache_key() = default;
  cache_key(named_cache_ptr in, std::string_view key_bytes)
      : cache(std::move(in))
      , bytes(key_bytes)
      , memory_hash(fast_hash(key_bytes, cache->memory_seed))
      , disk_hash(fast_hash(key_bytes, cache->id.seed())) {}
  /// The same, when the hash in memory is known.
  cache_key(named_cache_ptr in, std::string_view key_bytes, std::uint64_t known_memory_hash)
      : cache(std::move(in))
      , bytes(key_bytes)
      , memory_hash(known_memory_hash)
      , disk_hash(fast_hash(key_bytes, cache->id.seed())) {}

  named_cache_ptr cache;
  key_bytes bytes; ///< canonical msgpack of the key
  std::uint64_t memory_hash = 0;
  std::uint64_t disk_hash = 0;

  friend bool operator==(const cache_key& a, const cache_key& b) noexcept {
    return a.memory_hash == b.memory_hash && a.cache->number == b.cache->number &&
           a.bytes == b.bytes;
  }
};

/// Entries that are asked for together.
using key_list = std::vector<cache_key>;

/// The entry of (`base`, `part`): a tuple of both, in the same cache. For what belongs to `base`.
inline cache_key derived_key(const cache_key& base, const key& part) {
  constexpr char array_of_two = '\x92';
  std::string both(1, array_of_two);
  return {base.cache, both.append(base.bytes).append(part.encoded())};
}

/// Hash of a `cache_key` for standard containers.
struct cache_key_hash {
  std::size_t operator()(const cache_key& key) const noexcept { return key.memory_hash; }
};

} // namespace hearth
