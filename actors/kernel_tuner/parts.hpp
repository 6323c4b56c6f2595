// The steps of the kernel tuner: each file has one, and goes on to the next by calling it. On the
// tuner's thread.
#pragma once

#include "actors/kernel_tuner.hpp"
#include "actors/timeouts.hpp"
#include "actors/tuning_result.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace hearth::actors::tuner {

using self_pointer = kernel_tuner_actor::stateful_pointer<kernel_tuner_state>;
using job_ptr = std::shared_ptr<kernel_tuner_state::job>;
using candidates = std::vector<std::size_t>;

std::int64_t now_ns(self_pointer self);

// --- kernel_tuner.cpp: from a request to a job, and the answers

/// What the guarded cache has of the entry, as an answer; none when that is nothing of use.
std::optional<tune_reply> reply_from_cache(const guarded_reply& found, bool waited);
/// Everybody who waits for the job's entry gets this, and another entry may be made.
void finish_job(self_pointer self, const job_ptr& job, const tune_reply& reply);
void fail_job(self_pointer self, const job_ptr& job, std::string problem);
/// An entry that was found is noted for the request's sessions as its tuning would have been; then
/// `next`.
void note_entry(self_pointer self, const tune_request_ptr& request, const tune_reply& found,
                std::function<void()> next);

// --- recall.cpp: what is known of the job's tuning

/// With the family's lease: the tuning that is known, the times that are, or `measure`.
void recall(self_pointer self, const job_ptr& job);

// --- compile.cpp

/// Compiles those that were not compiled yet, then goes on.
void compile(self_pointer self, const job_ptr& job, const candidates& some,
             std::function<void()> next);
/// Leaves a candidate out.
void reject(const job_ptr& job, std::size_t index, std::string reason, bool is_config);
/// One candidate of this step is done with.
void end_one(const job_ptr& job);
bool is_good(const job_ptr& job, std::size_t index);

// --- measure.cpp

/// Finds the fastest candidate: of all, or by coordinate descent.
void measure(self_pointer self, const job_ptr& job);
/// Finds the first candidate that is right.
void take_first(self_pointer self, const job_ptr& job);

// --- keep.cpp

/// What was left out, and why.
std::vector<rejection> rejections_of(const kernel_tuner_state::job& job);
enum class keeping { entry_alone, tuning_too };
/// Keeps the winner and answers.
void keep(self_pointer self, const job_ptr& job, std::size_t winner, keeping what);

} // namespace hearth::actors::tuner
