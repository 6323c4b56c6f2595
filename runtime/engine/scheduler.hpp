// How the threads of an actor system of our own wait for work and share it.
#pragma once

namespace caf {
class actor_system_config;
}

namespace hearth::engine {

/// One queue for all threads, as with CAF's policy "sharing", but nobody is woken while the queue
/// is locked: there a thread that was woken finds the lock taken, and sleeps again. (CAF's policy
/// "stealing" sleeps up to 10 ms when it is idle.)
void share_work(caf::actor_system_config& system);

} // namespace hearth::engine
