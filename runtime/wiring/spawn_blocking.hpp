// Spawns an actor that blocks, for instance on the disk: on a thread of its own, or with all others
// where a test or the simulator steps every actor. On any thread.
#pragma once

#include "runtime/wiring/tiers.hpp"

#include <caf/actor_system.hpp>

#include <utility>

namespace hearth::wiring {

template <class Function, class... Arguments>
auto spawn_blocking(caf::actor_system& system, blocking_actors where, Function function,
                    Arguments&&... arguments) {
  return where == blocking_actors::own_threads
             ? system.spawn<caf::detached>(function, std::forward<Arguments>(arguments)...)
             : system.spawn(function, std::forward<Arguments>(arguments)...);
}

} // namespace hearth::wiring
