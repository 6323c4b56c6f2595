// How the remote tier sends commands and takes replies, its breaker and probes. On the tier's
// thread.
#pragma once

#include "actors/remote_tier/common.hpp"

namespace hearth::actors::remote {

/// Sends commands for `what`. `next` gets each reply, before the breaker judges it.
void send_all(self_pointer self, command_purpose what, std::vector<remote_client::command> commands,
              std::chrono::milliseconds deadline, state_type::reply_handler next);
/// Sends one command.
void send(self_pointer self, command_purpose what, remote_client::command command,
          std::chrono::milliseconds deadline, std::function<void(const remote_reply&)> next);
/// Handles the replies in the inbox.
void take_replies(self_pointer self);
/// Sends a PING. A good reply closes an open breaker.
void probe(self_pointer self);
/// Sends a PING every deadline while a `drain` waits for writes, to notice that the server has gone
/// away.
void watch(self_pointer self);
/// Whether the server may be asked: the breaker is closed.
inline bool is_in_service(const state_type& state) { return state.service.is_closed(); }

} // namespace hearth::actors::remote
