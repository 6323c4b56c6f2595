// How the remote tier looks entries up. On the tier's thread.
#pragma once

#include "actors/remote_tier/common.hpp"

namespace hearth::actors::remote {

/// Whether the server may be asked for entries of this key's cache.
bool may_look(const state_type& state, const cache_key& key);
void look_up(self_pointer self, const key_list& keys, const shared_promise<lookup_list>& reply);
/// Answers all pending lookups as misses, counted under `reason`.
void give_up_lookups(state_type& state, std::string_view reason);

} // namespace hearth::actors::remote
