// Our message types, for the actor system of a host.
#pragma once

namespace caf {
class actor_system_config;
} // namespace caf

namespace hearth {

/// Tells a host's actor system our message types; to be called before the system is made.
void add_message_types(caf::actor_system_config& host);

} // namespace hearth
