// The hash of a plan's code, which names its session of tunings.
#pragma once

#include "runtime/orchestrator/plan.hpp"

#include <string>

namespace hearth::orchestrator {

/// The hash of the plan's text and its sources' texts, each without its comments: a change of
/// comments keeps the tunings. A file that cannot be read counts as empty.
std::string code_hash_of(const plan& work);

} // namespace hearth::orchestrator
