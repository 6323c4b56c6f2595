// The tiers that any thread reads by itself: memory, then disk. No lock, no message, but for the
// promotion of a hit on disk.
#pragma once

#include "messages/cache_key.hpp"
#include "messages/replies.hpp"
#include "runtime/engine/core.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

namespace hearth::engine {

/// A key as it is looked up: nothing of it copied, hashed for memory alone.
struct wanted_key {
  wanted_key(const named_cache_ptr& in, std::string_view key_bytes) noexcept
      : cache(in)
      , bytes(key_bytes)
      , memory_hash(fast_hash(key_bytes, in->memory_seed)) {}
  /// With the hash that it has.
  wanted_key(const named_cache_ptr& in, std::string_view key_bytes, std::uint64_t hash) noexcept
      : cache(in)
      , bytes(key_bytes)
      , memory_hash(hash) {}

  /// What a message says of it.
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
  return core.view_of(hash).get(cache.number, bytes, hash);
}
inline artifact find_in_memory(runtime_core& core, const wanted_key& key) noexcept {
  return find_in_memory(core, *key.cache, key.bytes, key.memory_hash);
}

/// What the disk says: a hit, `corrupt`, or nothing.
std::optional<expected<lookup>> find_on_disk(runtime_core& core, const wanted_key& key);

/// Both, in order.
std::optional<expected<lookup>> find_locally(runtime_core& core, const wanted_key& key);

/// Why this cannot be a key of ours, or nothing.
expected<void> check_key(std::string_view key_bytes);

} // namespace hearth::engine
