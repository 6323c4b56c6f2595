// How the kernel tuner looks up known tunings. On the tuner's thread.
#pragma once

#include "actors/kernel_tuner/common.hpp"

namespace hearth::actors::tuner {

/// Called with the family's lease held. Uses the known tuning, else the known times, else
/// `measure`.
void recall(self_pointer self, const job_ptr& job);

} // namespace hearth::actors::tuner
