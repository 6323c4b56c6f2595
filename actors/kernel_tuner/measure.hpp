// How the kernel tuner measures candidates. On the tuner's thread.
#pragma once

#include "actors/kernel_tuner/common.hpp"

namespace hearth::actors::tuner {

/// Finds the fastest candidate, by measuring all or by coordinate descent.
void measure(self_pointer self, const job_ptr& job);
/// Finds the first candidate whose results are right.
void take_first(self_pointer self, const job_ptr& job);

} // namespace hearth::actors::tuner
