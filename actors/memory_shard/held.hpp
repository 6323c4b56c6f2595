// What a memory shard holds in memory, and the epochs that its entries reflect. On the shard's
// thread.
#pragma once

#include "actors/memory_shard/common.hpp"

namespace hearth::actors::shard {

/// For the shard's own use: counts neither a hit nor a miss.
artifact find_in_memory(state_type& state, const cache_key& key);
artifact get_from_memory(state_type& state, const cache_key& key);
/// As above, for a look-up that is a part of another one: counted by the index, not by the cache.
artifact get_again_from_memory(state_type& state, const cache_key& key);
void keep_in_memory(self_pointer self, const cache_key& key, const artifact& value);
void replace_in_memory(self_pointer self, const cache_key& key, const artifact& value);
/// Returns whether there was an entry.
bool erase_in_memory(self_pointer self, const cache_key& key);
void clear_memory(self_pointer self);
/// Frees removed entries that no reader holds any more.
void reclaim(self_pointer self);

/// Tells the views of this process that a put or erase by this shard moved the disk shard's epoch,
/// so that they keep their entries.
void tell_views(state_type& state, const cache_key& key, epoch_change epochs);
/// Updates memory after a write by this shard moved the epoch. If the view has taken in another
/// change too, the entry may have been replaced and is not kept.
void take_in_write(self_pointer self, const cache_key& key, const artifact& value,
                   epoch_change epochs);
/// As `take_in_write`, for an insert. Its epoch moves only when its group contains a put, or when
/// the disk may have dropped the key (other processes may still hold it in memory). When the epoch
/// did not move, memory keeps the value if the epoch still equals `asked`; without `asked` memory
/// is left alone.
void take_in_insert(self_pointer self, const cache_key& key, const artifact& value,
                    const disk_insert_reply& reply, std::optional<std::uint64_t> asked);
/// Inserts on disk only.
using disk_insert_callback = std::function<void(const expected<disk_insert_reply>&)>;
void insert_on_disk(self_pointer self, const cache_key& key, const artifact& value,
                    const disk_insert_callback& next);
/// As above, of a copy: it answers `exists` if the host has changed the entry after this change.
void copy_to_disk(self_pointer self, const cache_key& key, const artifact& value,
                  std::uint64_t last_change, const disk_insert_callback& next);

/// Returns the epoch of the key's disk shard. Clears memory first if another process moved an
/// epoch. A value read from disk may be kept only if the epoch was the same before the question and
/// after the answer.
std::uint64_t epoch_of(state_type& state, const cache_key& key);

} // namespace hearth::actors::shard
