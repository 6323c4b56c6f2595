// What `lookup_or_compile` tells besides the artifact. Plain value.
#pragma once

#include "messages/artifact.hpp"
#include "messages/replies.hpp"
#include "messages/visibility.hpp"

#include <chrono>

namespace HEARTH_PUBLIC hearth {

/// An artifact and where it came from.
struct compile_outcome {
  artifact value;
  tier from =
      tier::none;        ///< the tier that had it; `none`: it was compiled, by this call or another
  bool compiled = false; ///< this call compiled it
  bool waited = false;   ///< this call waited while another one compiled

  /// Whether a tier had the entry when it was asked for.
  bool hit() const noexcept { return from != tier::none; }
  /// The time that this call saved: what making the artifact took, unless it did that itself.
  std::chrono::nanoseconds time_saved() const {
    return compiled ? std::chrono::nanoseconds{0} : time_taken(value);
  }
};

} // namespace hearth
