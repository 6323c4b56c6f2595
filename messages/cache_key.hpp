// A key with its named cache: the address of an entry in messages. Plain value, any thread.
#pragma once

#include "messages/cache_counters.hpp"
#include "messages/cache_id.hpp"
#include "messages/hash.hpp"
#include "messages/key.hpp"
#include "messages/key_bytes.hpp"
#include "messages/visibility.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace HEARTH_PUBLIC hearth {

/// A named cache in the runtime: its identity, its number in this process, and its options.
struct named_cache {
  cache_id id;
  std::uint32_t number;      ///< number of name and version in this process
  std::uint64_t memory_seed; ///< seed of the memory hash: `id.seed() ^ process_seed()`
  bool memory = true;
  bool disk = true;
  bool remote = true;
  std::uint64_t memory_share_bytes = 0; ///< its own part of the memory budget; 0: none
  bool compress = false;                ///< values on disk are compressed
  bool sign = false;                    ///< entries in the remote tier are signed
  std::chrono::milliseconds ttl{0};     ///< entries without an expiry get this one; 0: none
  /// Entries in the remote tier belong to another program, too: a key, which is a text, is the name
  /// there, and the payload is the whole value.
  bool foreign = false;
  lookup_counter lookups{};                   ///< where lookups are counted
  std::shared_ptr<cache_counters> counters{}; ///< null: only the tiers count
};

using named_cache_ptr = std::shared_ptr<const named_cache>;

/// The address of an entry: a cache and a key, hashed once for each tier.
struct cache_key {
  cache_key() = default;
  cache_key(named_cache_ptr in, std::string_view key_bytes)
      : cache(std::move(in))
      , bytes(key_bytes)
      , memory_hash(fast_hash(key_bytes, cache->memory_seed))
      , disk_hash(fast_hash(key_bytes, cache->id.seed())) {}
  /// As above, with a known memory hash.
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

/// Keys of one request.
using key_list = std::vector<cache_key>;

/// The key (`base`, `part`), a tuple in the same cache, for an entry that belongs to `base`.
inline cache_key derived_key(const cache_key& base, const key& part) {
  constexpr char array_of_two = '\x92';
  std::string both(1, array_of_two);
  return {base.cache, both.append(base.bytes).append(part.encoded())};
}

/// Hash of a `cache_key` for standard containers.
struct cache_key_hash {
  std::size_t operator()(const cache_key& key) const noexcept { return key.memory_hash; }
};

/// Hash and equality of entries by the names of their caches: for keys made before the process has
/// opened the cache, which gives it its number.
struct entry_hash {
  std::size_t operator()(const cache_key& key) const noexcept { return key.disk_hash; }
};
struct same_entry {
  bool operator()(const cache_key& a, const cache_key& b) const noexcept {
    return a.disk_hash == b.disk_hash && a.cache->id == b.cache->id && a.bytes == b.bytes;
  }
};

} // namespace hearth
