// The write-behind queue of the remote tier. On the tier's thread.
#pragma once

#include "actors/remote_tier/common.hpp"

namespace hearth::actors::remote {

void write(self_pointer self, storage::remote_write write);

/// Inserts what a farther tier has, unless a write of this entry is on its way.
void write_copy(self_pointer self, const cache_key& key, const artifact& value,
                storage::change_journal::number change);
/// Sends the writes that may be sent now.
void send_writes(self_pointer self);
/// Tries the refused writes again. Called when the backoff is over.
void retry_writes(self_pointer self);
/// Answers the `drain` requests when no write is left or none can be sent.
void answer_syncs(state_type& state);
/// Continues with the writes after the server was unavailable.
void resume_writes(self_pointer self);

} // namespace hearth::actors::remote
