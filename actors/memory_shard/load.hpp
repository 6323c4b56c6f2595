// How a memory shard looks for entries: in memory, on disk, in the remote tier. On the shard's
// thread.
#pragma once

#include "actors/memory_shard/common.hpp"

namespace hearth::actors::shard {

void get(self_pointer self, const cache_key& key, reply_target<lookup> reply);
/// As above, for the shard's own use; not counted as a lookup.
void look(self_pointer self, const cache_key& key, reply_target<lookup> reply);
/// Answers the items of a batch that this shard owns.
void get_some(self_pointer self, const get_batch_ptr& batch, std::size_t first, std::size_t last);
/// Passes the entry on disk to `next`, and keeps it in memory too.
void ask_disk(self_pointer self, const cache_key& key, const lookup_callback& next);
/// Sends the queued lookups to the remote tier.
void ask_remote(self_pointer self);
/// A put or erase begins: later requests start a new load and do not join the running one.
void overtake_load(state_type& state, const cache_key& key);
/// Keeps an entry that a caller's thread read from disk, unless the epoch has moved.
void promote(self_pointer self, const cache_key& key, const artifact& value, std::uint64_t epoch);

} // namespace hearth::actors::shard
