// The parts of a memory shard: what it holds, how it looks below, how it writes, who may compile.
// Each file has one; they call each other through here. On the shard's thread.
#pragma once

#include "actors/memory_shard.hpp"

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

// --- which tiers a key has

inline bool uses_memory(const cache_key& key) { return key.cache->memory; }
inline bool uses_disk(const state_type& state, const cache_key& key) {
  return key.cache->disk && state.config.store;
}
inline bool uses_remote(const state_type& state, const cache_key& key) {
  return key.cache->remote && state.config.remote;
}
inline unsigned disk_shard_of(const state_type& state, const cache_key& key) {
  return state.config.store->shard_of(key.disk_hash);
}
inline const disk_shard_actor& disk_of(const state_type& state, const cache_key& key) {
  return state.config.disk_shards[disk_shard_of(state, key)];
}
/// Has a change written behind to the remote tier.
template <class Verb, class... Parts>
void tell_remote(self_pointer self, Verb what, const cache_key& key, const Parts&... parts) {
  if (uses_remote(self->state, key)) self->send(self->state.config.remote, what, key, parts...);
}

// --- held.cpp: what memory holds

/// For ourselves: no hit and no miss of anybody's.
artifact find_in_memory(state_type& state, const cache_key& key);
artifact get_from_memory(state_type& state, const cache_key& key);
void keep_in_memory(self_pointer self, const cache_key& key, const artifact& value);
void replace_in_memory(self_pointer self, const cache_key& key, const artifact& value);
/// Whether it was there.
bool erase_in_memory(self_pointer self, const cache_key& key);
void clear_memory(self_pointer self);
/// Frees what readers let go of.
void reclaim(self_pointer self);

/// A put or erase of ours moved the epoch of a disk shard: no view has to start over for it.
void tell_views(state_type& state, const cache_key& key, epoch_change epochs);
/// Updates memory after a write by this shard moved the epoch. If the view has taken in another
/// change too, the entry may have been replaced and is not kept.
void take_in_write(self_pointer self, const cache_key& key, const artifact& value,
                   epoch_change epochs);
/// The same for an insert. Its epoch moves only when its group contains a put, or when the disk may
/// have dropped the key (other processes may still hold it in memory). When the epoch did not move,
/// memory keeps the value if the epoch still equals `asked`; without `asked` memory is left alone.
void take_in_insert(self_pointer self, const cache_key& key, const artifact& value,
                    const disk_insert_reply& reply, std::optional<std::uint64_t> asked);
/// Inserts on disk alone.
using disk_insert_callback = std::function<void(const expected<disk_insert_reply>&)>;
void insert_on_disk(self_pointer self, const cache_key& key, const artifact& value,
                    const disk_insert_callback& next);

/// Returns the epoch of the key's disk shard. Clears memory first if another process moved an
/// epoch. A value read from disk may be kept only if the epoch was the same before the question and
/// after the answer.
std::uint64_t epoch_of(state_type& state, const cache_key& key);

// --- load.cpp: memory, disk, remote

void get(self_pointer self, const cache_key& key, reply_target<lookup> reply);
/// The same for ourselves.
void look(self_pointer self, const cache_key& key, reply_target<lookup> reply);
/// The items of a batch that this shard owns.
void get_some(self_pointer self, const get_batch_ptr& batch, std::size_t first, std::size_t last);
/// What the disk has, kept in memory as well.
void ask_disk(self_pointer self, const cache_key& key, const lookup_callback& next);
/// Asks the remote tier what has come to it.
void ask_remote(self_pointer self);
/// A put or erase begins: later requests start a new load and do not join the running one.
void overtake_load(state_type& state, const cache_key& key);
/// Keeps what a caller's thread read from disk, unless the epoch moved since.
void promote(self_pointer self, const cache_key& key, const artifact& value, std::uint64_t epoch);

// --- write.cpp

void insert(self_pointer self, const cache_key& key, const artifact& value,
            const insert_callback& next);
void put(self_pointer self, const cache_key& key, const artifact& value, reply_target<done> reply);
void erase(self_pointer self, const cache_key& key, reply_target<bool> reply);

// --- unpersisted.cpp: what memory took in while the disk failed

/// Remembers a key that memory holds and the disk refused with `why`. The shard retries until the
/// disk holds this value or another one; in the latter case memory drops its own.
void note_unpersisted(self_pointer self, const cache_key& key, const artifact& value,
                      const error& why);
/// Memory now holds another value for this key, or none.
void forget_unpersisted(state_type& state, const cache_key& key);
void flush_unpersisted(self_pointer self);

// --- acquire.cpp: from a wish to a lease

/// The artifact, or the lease to make it.
void acquire(self_pointer self, const cache_key& key, state_type::waiter waiting);
/// The lease alone.
void lock(self_pointer self, const cache_key& key, state_type::waiter waiting);
/// Asks again for the leases that other processes hold, ...
void poll_leases(self_pointer self);
/// ... or for this one, which another host holds.
void poll_fleet(self_pointer self, const cache_key& key);

// --- lease.cpp: from a lease to its end

/// Gives the lease to the first waiter that still wants it; ends the lease if there is none.
void grant(self_pointer self, const cache_key& key);
/// Ends the lease and delivers `result` to every waiter.
void complete_lease(self_pointer self, const cache_key& key, const expected<lookup>& result);
/// Removes the record and releases its leases. The caller answers the waiters.
state_type::lease_record end_lease(self_pointer self, const cache_key& key);
/// Removes the waiters that have given up.
void prune(state_type::lease_record& record);
void withdraw(state_type& state, const cache_key& key);
void fulfil(self_pointer self, lease_id id, const artifact& value,
            reply_target<insert_outcome> reply);
void abandon(self_pointer self, lease_id id, const error& why);
void release(self_pointer self, lease_id id);
/// An actor ended: its waiters are removed, and each lease that it held goes to the next waiter.
void forget(self_pointer self, const caf::actor_addr& gone);

} // namespace hearth::actors::shard
