// How a memory shard answers a request for a lease. On the shard's thread.
#pragma once

#include "actors/memory_shard/common.hpp"

namespace hearth::actors::shard {

/// Answers with the artifact, or with the lease to make it.
void acquire(self_pointer self, const cache_key& key, state_type::waiter waiting);
/// Answers with the lease, without looking for an entry.
void lock(self_pointer self, const cache_key& key, state_type::waiter waiting);
/// Asks again for the leases that other processes hold.
void poll_leases(self_pointer self);
/// Asks again for this key's lease, which another host holds.
void poll_fleet(self_pointer self, const cache_key& key);

} // namespace hearth::actors::shard
