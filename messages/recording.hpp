// The notes of a recording session: the artifacts that a compilation stored and hit, for a bundle.
// Plain values, any thread.
#pragma once

#include "messages/artifact.hpp"
#include "messages/cache_key.hpp"
#include "messages/visibility.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace HEARTH_PUBLIC hearth {

/// An artifact in a bundle.
struct recorded_artifact {
  std::string type = "entry"; ///< or one of the host's types
  cache_key key;
  artifact value;
};

/// Limits of a session; artifacts beyond them are counted and not kept.
struct recording_limits {
  std::uint64_t bytes = std::uint64_t{1} << 30; ///< sum of keys, metadata and payloads
  std::uint64_t artifacts = 1'000'000;
};

/// A finished session; artifacts in the order in which they were first stored or hit.
struct recording {
  std::vector<recorded_artifact> artifacts;
  std::uint64_t bytes = 0;
  std::uint64_t left_out = 0; ///< number of artifacts beyond the limits
};

} // namespace hearth
