// How a plan is tuned. Plain value.
#pragma once

#include "messages/tuning.hpp"

#include <string>

namespace hearth::orchestrator {

struct tuning_options {
  tune_mode mode = tune_mode::full;
  std::string tag{}; ///< distinguishes databases of tunings
};

} // namespace hearth::orchestrator
