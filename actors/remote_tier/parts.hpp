// The parts of the remote tier's actor, which call each other. Internal to it: each works on its
// state, on its thread.
#pragma once

#include "actors/remote_tier.hpp"
#include "actors/remote_tier/failure_severity.hpp"

#include <functional>
#include <string_view>
#include <vector>

namespace hearth::actors::remote {

using self_pointer = remote_tier_actor::stateful_pointer<remote_tier_state>;
using state_type = remote_tier_state;

// --- service.cpp: commands, replies, the breaker and its probes

/// Sends commands for `what`. `next` gets each reply, before the breaker judges it.
void send_all(self_pointer self, command_purpose what, std::vector<remote_client::command> commands,
              std::chrono::milliseconds deadline, state_type::reply_handler next);
/// The same of one.
void send(self_pointer self, command_purpose what, remote_client::command command,
          std::chrono::milliseconds deadline, std::function<void(const remote_reply&)> next);
/// Handles the replies that came.
void take_replies(self_pointer self);
/// Sends a PING. A good reply closes an open breaker.
void probe(self_pointer self);
/// Sends a PING every deadline while a `sync` waits for writes, to notice a server that went away.
void watch(self_pointer self);
/// Whether the server may be asked anything.
inline bool is_in_service(const state_type& state) { return state.service.is_closed(); }

// --- lookups.cpp

void look_up(self_pointer self, const key_list& keys, const shared_promise<lookup_list>& reply);
/// Answers all pending lookups as misses, counted under `reason`.
void give_up_lookups(state_type& state, std::string_view reason);

// --- writes.cpp

void write(self_pointer self, storage::remote_write write);
/// Sends what may be sent now.
void send_writes(self_pointer self);
/// Tries the refused writes again. Called when the backoff is over.
void retry_writes(self_pointer self);
/// Answers those who wait for all writes, when none is left or none can be sent.
void answer_syncs(state_type& state);
/// After the server was away.
void resume_writes(self_pointer self);

// --- leases.cpp

void take_lease(self_pointer self, const cache_key& key, reply_target<fleet_lease> reply);
void give_back(self_pointer self, const cache_key& key);
void give_all_back(self_pointer self);
void renew_leases(self_pointer self);
void give_up_lease_requests(self_pointer self);
/// A script failed; perhaps the server runs none at all.
void note_script_failure(state_type& state, const remote_reply& reply);

// --- counts.cpp

remote_cache_counts& counts_of(state_type& state, const cache_key& key);
void count_failure(state_type& state, const cache_key& key, std::string_view reason);
remote_tier_stats stats_of(const state_type& state);

} // namespace hearth::actors::remote
