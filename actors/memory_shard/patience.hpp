// The end of a wait for another caller's compile. On the shard's thread.
//
// A holder may hang, or renew its lease for ever. A caller that has waited for `patience` gets a
// lease of its own beside the holder's: the compile is done twice, and the first writer wins.
#pragma once

#include "actors/memory_shard/common.hpp"

namespace hearth::actors::shard {

/// Begins the patience of a record whose holder is new.
void begin_patience(self_pointer self, state_type::lease_record& record);
/// Tells the host of a record that waits for another process or host: after 2 s, then every 10 s.
void note_wait(self_pointer self, state_type::lease_record& record);
/// Gives a lease of its own to the first waiter of each record whose patience ended; to all of them
/// when it ended once before.
void end_waits(self_pointer self);

} // namespace hearth::actors::shard
