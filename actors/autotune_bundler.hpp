// autotune_bundler: collects the tunings that each tuning session saved and found into one entry of
// the remote tier, so that a new machine gets them all with one lookup. Any number of sessions may
// be open.
//
// Owns the sessions; a session ends only on request.
#pragma once

#include "actors/shard_router.hpp"
#include "messages/protocol.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <cstdint>
#include <map>
#include <string>

namespace hearth::actors {

/// Tunings by their names in the local cache.
using tuning_bundle = std::map<std::string, autotune_record>;

/// The tunings in a bundle's set. A record that cannot be read, or of another version, is left out.
tuning_bundle bundle_of(const member_set& members);

struct autotune_bundler_state {
  static inline const char* name = "autotune_bundler";
  /// The maximum number of open sessions, and of entries in one session.
  static constexpr std::size_t max_sessions = 1024;
  static constexpr std::size_t max_entries = 65'536;

  struct session {
    cache_key key;
    tuning_bundle known;           ///< the bundle when the session began
    std::int64_t latest_stamp = 0; ///< of that bundle
    tuning_bundle collected;       ///< tunings that the session saved or found in the local cache
  };

  shard_router shards;
  std::map<std::uint64_t, session> sessions;
  std::uint64_t last_session = 0;
};
using autotune_bundler_pointer = autotune_bundler_actor::stateful_pointer<autotune_bundler_state>;

autotune_bundler_actor::behavior_type autotune_bundler(autotune_bundler_pointer self,
                                                       shard_router shards);

} // namespace hearth::actors
