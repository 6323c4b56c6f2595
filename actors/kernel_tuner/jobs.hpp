// How the kernel tuner starts and finishes jobs. On the tuner's thread.
#pragma once

#include "actors/kernel_tuner/common.hpp"

namespace hearth::actors::tuner {

/// The answer from a lookup in the guarded cache; empty if it found no usable entry.
std::optional<tune_reply> reply_from_cache(const guarded_reply& found, bool waited);
/// Delivers the answer to every request for the job's entry, and starts the next queued one.
void finish_job(self_pointer self, const job_ptr& job, const tune_reply& reply);
void fail_job(self_pointer self, const job_ptr& job, std::string problem);
/// Answers that the observations of the candidates have to be looked at again.
void look_again_later(self_pointer self, const job_ptr& job);
/// Notes the tuning of a stored entry for the request's sessions, as if it had just been tuned;
/// then calls `next`.
void note_entry(self_pointer self, const tune_request_ptr& request, const tune_reply& found,
                std::function<void()> next);

} // namespace hearth::actors::tuner
