// How the kernel tuner looks up what is known of a tuning. On the tuner's thread.
#pragma once

#include "actors/kernel_tuner/common.hpp"

namespace hearth::actors::tuner {

/// With the family's lease: the tuning that is known, the times that are, or `measure`.
void recall(self_pointer self, const job_ptr& job);

} // namespace hearth::actors::tuner
