// How a memory shard looks for entries that grow, and changes them. On the shard's thread.
#pragma once

#include "actors/memory_shard/common.hpp"

namespace hearth::actors::shard {

/// Answers with the set of the nearest of memory and disk.
void find_set(self_pointer self, const cache_key& key, reply_target<lookup> reply);
/// Asks the remote tier for the set and answers with the union. A request that comes while the
/// server is asked is answered by the next question: an answer on its way may be older than the
/// request.
void refresh_set(self_pointer self, const cache_key& key, const set_limits& limits,
                 reply_target<set_lookup> reply);
/// Changes the set in every tier.
void merge_set(self_pointer self, const cache_key& key, const set_change& change,
               reply_target<set_reply> reply);

} // namespace hearth::actors::shard
