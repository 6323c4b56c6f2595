// How the leases of a memory shard are granted and ended. On the shard's thread.
#pragma once

#include "actors/memory_shard/common.hpp"

namespace hearth::actors::shard {

/// Gives the lease to the first waiter that still wants it; ends the lease if there is none.
void grant(self_pointer self, const cache_key& key);
/// Grants a lease beside the record's, to a waiter whose patience ended. False: it has given up.
bool grant_spare(self_pointer self, const cache_key& key, state_type::waiter& waiting);
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
