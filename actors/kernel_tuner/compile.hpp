// How the kernel tuner compiles candidates. On the tuner's thread.
#pragma once

#include "actors/kernel_tuner/common.hpp"

namespace hearth::actors::tuner {

/// Compiles the candidates that are not compiled yet, then calls `next`.
void compile(self_pointer self, const job_ptr& job, const candidates& some,
             std::function<void()> next);
/// Leaves a candidate out of the choice.
void reject(const job_ptr& job, std::size_t index, std::string reason, bool is_config);
/// Ends the step for one candidate; the last one starts the next step.
void end_one(const job_ptr& job);
bool is_good(const job_ptr& job, std::size_t index);

} // namespace hearth::actors::tuner
