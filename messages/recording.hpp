// What a recording session noted: the artifacts that a compilation stored and hit, for a bundle.
// Plain values, any thread.
#pragma once

#include "messages/artifact.hpp"
#include "messages/cache_key.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace hearth {

/// An artifact as a bundle carries it.
struct recorded_artifact {
  std::string type = "entry"; ///< or a type of the host's
  cache_key key;
  artifact value;
};

/// What a session holds at most; what comes beyond is counted and not kept.
struct recording_limits {
  std::uint64_t bytes = std::uint64_t{1} << 30; ///< of keys, metadata and payloads
  std::uint64_t artifacts = 1'000'000;
};

/// A finished session, in the order in which things were first stored or hit.
struct recording {
  std::vector<recorded_artifact> artifacts;
  std::uint64_t bytes = 0;
  std::uint64_t left_out = 0; ///< beyond the limits
};

} // namespace hearth
