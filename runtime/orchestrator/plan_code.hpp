// The code that a plan's session of tunings is named by.
#pragma once

#include "runtime/orchestrator/plan.hpp"

#include <string>

namespace hearth::orchestrator {

/// The hash of the plan's text and its sources' texts, each without its comments: a plan with other
/// remarks has the same tunings. A file that cannot be read counts as empty.
std::string code_hash_of(const plan& work);

} // namespace hearth::orchestrator
