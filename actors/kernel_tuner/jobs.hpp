// How the kernel tuner starts and finishes jobs. On the tuner's thread.
#pragma once

#include "actors/kernel_tuner/common.hpp"

namespace hearth::actors::tuner {

/// What the guarded cache has of the entry, as an answer; none when that is nothing of use.
std::optional<tune_reply> reply_from_cache(const guarded_reply& found, bool waited);
/// Everybody who waits for the job's entry gets this, and another entry may be made.
void finish_job(self_pointer self, const job_ptr& job, const tune_reply& reply);
void fail_job(self_pointer self, const job_ptr& job, std::string problem);
/// An entry that was found is noted for the request's sessions as its tuning would have been; then
/// `next`.
void note_entry(self_pointer self, const tune_request_ptr& request, const tune_reply& found,
                std::function<void()> next);

} // namespace hearth::actors::tuner
