// How a memory shard inserts, puts and erases entries. On the shard's thread.
#pragma once

#include "actors/memory_shard/common.hpp"

namespace hearth::actors::shard {

void insert(self_pointer self, const cache_key& key, const artifact& value,
            const insert_callback& next);
void put(self_pointer self, const cache_key& key, const artifact& value, reply_target<done> reply);
void erase(self_pointer self, const cache_key& key, reply_target<bool> reply);
/// As `erase`, without the remote tier.
void purge(self_pointer self, const cache_key& key, reply_target<bool> reply);

} // namespace hearth::actors::shard
