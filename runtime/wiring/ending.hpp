// Ends the actors of a process: earlier requests first reach the disk and the server, then each
// actor ends before the actors that it sends requests to.
#pragma once

#include "runtime/wiring/tiers.hpp"

#include <caf/actor.hpp>
#include <caf/actor_system.hpp>
#include <caf/duration.hpp>

#include <functional>
#include <vector>

namespace hearth::wiring {

/// Spawns an actor that drains the tiers and then ends. When `drained` is called, in that actor,
/// every memory shard has passed on the earlier requests, every disk shard has stored them, and the
/// remote tier has sent its writes or `remote_deadline` has passed. `drained` is not called if the
/// actor is ended first.
caf::actor spawn_drain(caf::actor_system& system, const tier_actors& tiers,
                       caf::duration remote_deadline, std::function<void()> drained);

/// Asks an actor to end, before anything else that waits in its mailbox. Null is allowed.
void end_actor(const caf::actor& actor);

/// Ends all actors, in this order, and waits until they have ended. Blocks; not from an actor's
/// thread.
void end_actors(caf::actor_system& system, const std::vector<caf::actor>& all);

} // namespace hearth::wiring
