// How the actors of a process end: first what was asked before reaches the disk and the server,
// then they end, who asks before whom it asks.
#pragma once

#include "runtime/wiring/tiers.hpp"

#include <caf/actor.hpp>
#include <caf/actor_system.hpp>
#include <caf/duration.hpp>

#include <functional>
#include <vector>

namespace hearth::wiring {

/// Spawns the actor that drains the tiers, and ends when it has: every memory shard has handed on
/// what was asked before, every disk shard has it on disk, and the remote tier, which is waited
/// for as long as `remote_deadline`, has sent what it was to write. `drained` is called then, in
/// the actor; not when the actor was ended before.
caf::actor spawn_drain(caf::actor_system& system, const tier_actors& tiers,
                       caf::duration remote_deadline, std::function<void()> drained);

/// Asks an actor to end, before anything else that waits in its mailbox. Null is allowed.
void end_actor(const caf::actor& actor);

/// Ends all of them, in their order, and waits until they have. Blocks: a thread that is none of an
/// actor.
void end_actors(caf::actor_system& system, const std::vector<caf::actor>& all);

} // namespace hearth::wiring
