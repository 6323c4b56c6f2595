// Entries that grow, in the remote tier. On the tier's thread.
#pragma once

#include "actors/remote_tier/common.hpp"

namespace hearth::actors::remote {

/// Answers with the set that the server holds, with this process's unacknowledged changes.
void find_set(self_pointer self, const cache_key& key, const shared_promise<fleet_members>& reply);
/// Adds and removes members behind.
void change_set(self_pointer self, const cache_key& key, const set_change& change);
/// Answers every request for a set that the server has not answered, counted under `reason`.
void give_up_sets(state_type& state, std::string_view reason);

} // namespace hearth::actors::remote
