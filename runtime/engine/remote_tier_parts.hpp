// Builds the configuration of the remote tier's actor from that of the runtime.
#pragma once

#include "actors/remote_tier.hpp"
#include "runtime/api/config.hpp"

namespace hearth::engine {

/// The remote tier's parts, not connected yet. Errors: those of the URL and of the files that the
/// configuration names; none contains a secret. Actors of `system` that answers wake may run on the
/// connections' thread; null: none do. `system` must live until the server is closed.
expected<actors::remote_tier_config> make_remote_tier(const remote_config& settings,
                                                      actors::log_sink log,
                                                      caf::actor_system* system = nullptr);

/// Whether a tier's `caches` name the cache, or are empty.
bool takes_cache(const remote_config& settings, const cache_id& id);

} // namespace hearth::engine
