// The leases of a key among the processes of a host. On the shard's thread.
//
// The holder shows that it lives (`beat`). A holder that is stopped keeps its lock, so a process
// that sees no beat for a while takes the key's next lease instead: one process of the host takes
// it, the others watch that one.
#pragma once

#include "actors/memory_shard/common.hpp"

namespace hearth::actors::shard {

/// Takes the process lease of this record. False: another process holds it. True too if the lease
/// file cannot be used, or if every holder is silent: the record then has no process lease.
bool take_process_lease(self_pointer self, const cache_key& key, state_type::lease_record& record);
void release_process_lease(state_type& state, const cache_key& key,
                           state_type::lease_record& record);
/// Shows other processes that this one lives, while it holds a lease.
void beat(self_pointer self);

} // namespace hearth::actors::shard
