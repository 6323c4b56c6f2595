// Hearth's message types, for the actor system of a host.
#pragma once

#include "messages/visibility.hpp"

namespace caf {
class actor_system_config;
} // namespace caf

namespace HEARTH_PUBLIC hearth {

/// Registers Hearth's message types in a host's configuration. Call it before the actor system is
/// created.
void add_message_types(caf::actor_system_config& host);

} // namespace hearth
