// artifact_recorder: records the artifacts that each session stored and hit, for bundles. Any
// number of sessions may be open.
//
// Owns the notes of each session until it ends; each session is bounded.
#pragma once

#include "messages/protocol.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>

namespace hearth::actors {

struct artifact_recorder_state {
  static inline const char* name = "artifact_recorder";

  struct session {
    recording_limits limits;
    recording noted;
    /// The index of an artifact in `noted`, by its type and key.
    std::map<std::string, std::unordered_map<cache_key, std::size_t, cache_key_hash>> places;
  };

  std::uint64_t last_session = 0;
  std::map<std::uint64_t, session> sessions;
};
using artifact_recorder_pointer =
    artifact_recorder_actor::stateful_pointer<artifact_recorder_state>;

/// The second argument is not used: CAF 0.17.6 cannot spawn a function without one.
artifact_recorder_actor::behavior_type artifact_recorder(artifact_recorder_pointer self, int);

} // namespace hearth::actors
