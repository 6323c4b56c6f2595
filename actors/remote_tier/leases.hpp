// The fleet's leases that this process holds. On the tier's thread.
#pragma once

#include "actors/remote_tier/common.hpp"

namespace hearth::actors::remote {

void take_lease(self_pointer self, const cache_key& key, reply_target<fleet_lease> reply);
void give_back(self_pointer self, const cache_key& key);
void give_all_back(self_pointer self);
void renew_leases(self_pointer self);
void give_up_lease_requests(self_pointer self);
/// Notes a failed script. If the server runs no scripts, none is sent any more.
void note_script_failure(state_type& state, const remote_reply& reply);

} // namespace hearth::actors::remote
