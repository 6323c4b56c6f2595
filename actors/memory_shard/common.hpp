// Types and small functions that all parts of a memory shard share. On the shard's thread.
#pragma once

#include "actors/memory_shard.hpp"
#include "storage/memory/lookup_tally.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>

namespace hearth::actors::shard {

using self_pointer = memory_shard_actor::stateful_pointer<memory_shard_state>;
using state_type = memory_shard_state;
using phase = state_type::lease_record::phase;
using load_ptr = state_type::load_ptr;
using insert_callback = std::function<void(expected<insert_outcome>)>;
using lookup_callback = std::function<void(expected<lookup>)>;

inline bool uses_memory(const cache_key& key) { return key.cache->memory; }
inline bool uses_disk(const state_type& state, const cache_key& key) {
  return key.cache->disk && state.config.store;
}
inline bool uses_remote(const state_type& state, const cache_key& key) {
  return key.cache->remote && state.config.remote;
}
/// Whether the disk may hold what other hosts removed before this process began.
inline bool has_to_hear(const state_type& state, const cache_key& key) {
  return uses_remote(state, key) && state.config.gate && !state.config.gate->has_heard_all();
}
/// The number of the last put or erase by any process of this host.
inline std::uint64_t last_change(const state_type& state) {
  return state.config.journal ? state.config.journal->last() : 0;
}
/// Whether a process of this host has changed the entry after that change.
inline bool is_overtaken(const state_type& state, const cache_key& key, std::uint64_t change) {
  return state.config.journal && state.config.journal->is_overtaken(key, change);
}
inline unsigned disk_shard_of(const state_type& state, const cache_key& key) {
  return state.config.store->shard_of(key.disk_hash);
}
inline const disk_shard_actor& disk_of(const state_type& state, const cache_key& key) {
  return state.config.disk_shards[disk_shard_of(state, key)];
}
/// Counts a lookup of the key's cache that this tier answered. Before the answer is delivered: the
/// caller may look at the counts then.
inline void count_lookup(const cache_key& key, tier from) {
  storage::count_lookup(*key.cache, from);
}
/// Counts in the key's cache, if it has counters.
inline void count(const cache_key& key, cache_counters::counter cache_counters::*what) {
  if (const auto& counters = key.cache->counters) cache_counters::count((*counters).*what);
}
/// Sends a change to the remote tier, which writes it behind.
template <class Verb, class... Parts>
void tell_remote(self_pointer self, Verb what, const cache_key& key, const Parts&... parts) {
  if (uses_remote(self->state, key)) self->send(self->state.config.remote, what, key, parts...);
}

} // namespace hearth::actors::shard
