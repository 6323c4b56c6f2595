// The tiers that any thread reads directly: memory, then disk. Without a lock, and without a
// message except for the promotion of a hit on disk.
#pragma once

#include "messages/cache_key.hpp"
#include "messages/replies.hpp"
#include "runtime/engine/core.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

namespace hearth::engine {

/// A key to look up: a view of its bytes, and its hash for memory.
struct wanted_key {
  wanted_key(const named_cache_ptr& in, std::string_view key_bytes) noexcept
      : cache(in)
      , bytes(key_bytes)
      , memory_hash(fast_hash(key_bytes, in->memory_seed)) {}
  /// Uses a known hash.
  wanted_key(const named_cache_ptr& in, std::string_view key_bytes, std::uint64_t hash) noexcept
      : cache(in)
      , bytes(key_bytes)
      , memory_hash(hash) {}

  /// The owning key for a message.
  cache_key owned() const { return {cache, bytes, memory_hash}; }

  const named_cache_ptr& cache;
  std::string_view bytes;
  std::uint64_t memory_hash;
};

/// The artifact, if memory has it.
[[gnu::always_inline]] inline artifact find_in_memory(runtime_core& core, const named_cache& cache,
                                                      std::string_view bytes,
                                                      std::uint64_t hash) noexcept {
  if (!cache.memory) return {};
  return core.view_of(hash).get(cache.number, bytes, hash, cache.lookups);
}
inline artifact find_in_memory(runtime_core& core, const wanted_key& key) noexcept {
  return find_in_memory(core, *key.cache, key.bytes, key.memory_hash);
}

/// Looks on disk: a hit, the error `corrupt`, or empty.
std::optional<expected<lookup>> find_on_disk(runtime_core& core, const wanted_key& key);

/// Looks in memory, then on disk.
std::optional<expected<lookup>> find_locally(runtime_core& core, const wanted_key& key);

/// Checks the length of a key. Errors: `invalid_key`.
expected<void> check_key(std::string_view key_bytes);

} // namespace hearth::engine
