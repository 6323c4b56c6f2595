// How the kernel tuner stores the winner of a job. On the tuner's thread.
#pragma once

#include "actors/kernel_tuner/common.hpp"

namespace hearth::actors::tuner {

/// The candidates that were left out, with the reasons.
std::vector<rejection> rejections_of(const kernel_tuner_state::job& job);
enum class keeping { entry_alone, tuning_too };
/// Stores the winner and answers the waiting requests.
void keep(self_pointer self, const job_ptr& job, std::size_t winner, keeping what);

} // namespace hearth::actors::tuner
