// The scheduling of the runtime's own actor system.
#pragma once

namespace caf {
class actor_system_config;
}

namespace hearth::engine {

/// One queue for all threads, as with CAF's policy "sharing", but no thread is woken while the
/// queue is locked. With CAF's, a woken thread finds the lock taken and sleeps again. (CAF's policy
/// "stealing" sleeps up to 10 ms when it is idle.)
void share_work(caf::actor_system_config& system);

} // namespace hearth::engine
