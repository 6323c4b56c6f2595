// autotune_bundler: what each session of tuning saved and found, put together as one entry of the
// remote tier, so that a new machine has it all with one lookup. Any number of sessions at once.
//
// Owns the sessions; ends none of them by itself.
#pragma once

#include "actors/shard_router.hpp"
#include "messages/protocol.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <cstdint>
#include <map>
#include <string>

namespace hearth::actors {

/// Tunings by their name in the local cache.
using tuning_bundle = std::map<std::string, autotune_record>;

/// Canonical msgpack: a map of name -> the record's fields.
std::string encode_bundle(const tuning_bundle& bundle);
/// The records that can be read: one of another version hides no other. Errors: `malformed` when it
/// is no map.
expected<tuning_bundle> decode_bundle(std::string_view bytes);

struct autotune_bundler_state {
  static inline const char* name = "autotune_bundler";
  /// Most sessions at once, and most entries of one.
  static constexpr std::size_t max_sessions = 1024;
  static constexpr std::size_t max_entries = 65'536;

  struct session {
    cache_key key;
    tuning_bundle known;     ///< as the bundle was when it began
    tuning_bundle collected; ///< what the session saved, and what it found in the local cache
  };

  shard_router shards;
  std::map<std::uint64_t, session> sessions;
  std::uint64_t last_session = 0;
};
using autotune_bundler_pointer = autotune_bundler_actor::stateful_pointer<autotune_bundler_state>;

autotune_bundler_actor::behavior_type autotune_bundler(autotune_bundler_pointer self,
                                                       shard_router shards);

} // namespace hearth::actors
