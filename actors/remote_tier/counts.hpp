// The counters of the remote tier. On the tier's thread.
#pragma once

#include "actors/remote_tier/common.hpp"

namespace hearth::actors::remote {

remote_cache_counts& counts_of(state_type& state, const cache_key& key);
void count_failure(state_type& state, const cache_key& key, std::string_view reason);
remote_tier_stats stats_of(const state_type& state);

} // namespace hearth::actors::remote
