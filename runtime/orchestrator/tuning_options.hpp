// How a plan is tuned. Plain value.
#pragma once

#include "messages/tuning.hpp"
#include "runtime/handle/recording_session.hpp"

#include <optional>
#include <string>

namespace hearth::orchestrator {

struct tuning_options {
  tune_mode mode = tune_mode::full;
  std::string tag{}; ///< distinguishes databases of tunings
  /// Records what a later run of the plan finds, so that it compiles and tries nothing on another
  /// host either: entries with their guards, what their compiles have read, tunings and times.
  std::optional<recording_session> recording{};
};

} // namespace hearth::orchestrator
