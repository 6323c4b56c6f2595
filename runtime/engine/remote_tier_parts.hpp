// From what a configuration says of the remote tier to what its actor works with.
#pragma once

#include "actors/remote_tier.hpp"
#include "runtime/api/config.hpp"

namespace hearth::engine {

/// The remote tier's parts, connected to nothing yet. Errors: of the URL, and of the files that the
/// configuration names; none has a secret in it. Actors of
/// `system` that answers wake may run on the connections' thread; null: none do. It outlives the
/// server until that is closed.
expected<actors::remote_tier_config> make_remote_tier(const remote_config& settings,
                                                      actors::log_sink log,
                                                      caf::actor_system* system = nullptr);

} // namespace hearth::engine
