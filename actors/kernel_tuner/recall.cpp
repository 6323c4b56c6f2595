#include "actors/kernel_tuner/recall.hpp"

#include "actors/kernel_tuner/compile.hpp"
#include "actors/kernel_tuner/jobs.hpp"
#include "actors/kernel_tuner/keep.hpp"
#include "actors/kernel_tuner/measure.hpp"

#include <algorithm>
#include <utility>

namespace hearth::actors::tuner {
namespace {

// --- nothing is known --------------------------------------------------------------------------

// An entry made without tuning is stored under `untuned_key`; an earlier job may have stored it.
void find_untuned(self_pointer self, const job_ptr& job) {
  job->is_untuned = true;
  const auto& request = *job->request;
  self->request(self->state.config.guarded, answer_timeout, verb::get_v, request.untuned_key,
                request.sizes)
      .then(
          [=](const guarded_reply& found) {
            if (const auto reply = reply_from_cache(found, job->waited))
              finish_job(self, job, *reply);
            else
              take_first(self, job);
          },
          [=](const caf::error&) { take_first(self, job); });
}

void without_knowledge(self_pointer self, const job_ptr& job) {
  const auto mode = job->request->mode;
  if (mode == tune_mode::full || mode == tune_mode::descent)
    measure(self, job);
  else
    find_untuned(self, job);
}

// Compiles the candidate of the known tuning. If it no longer compiles, the job goes on as if no
// tuning were known.
void use(self_pointer self, const job_ptr& job, std::size_t index, keeping what) {
  compile(self, job, {index}, [=] {
    if (is_good(job, index)) return keep(self, job, index, what);
    const auto tried = job->candidates[index];
    job->candidates.assign(job->candidates.size(), {});
    if (tried.is_config) job->candidates[index] = tried; // it is not compiled once more
    without_knowledge(self, job);
  });
}

// --- times -------------------------------------------------------------------------------------

std::optional<std::size_t> fastest(const kernel_tuner_state::job& job) {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < job.candidates.size(); ++i) {
    const auto& one = job.candidates[i];
    if (one.reason.empty() && (!best || one.time_ns < job.candidates[*best].time_ns)) best = i;
  }
  return best;
}

// The times of all candidates are known from earlier runs: compiles the fastest and measures none.
void use_times(self_pointer self, const job_ptr& job, const std::vector<std::string>& hashes) {
  job->candidates.resize(hashes.size());
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    const auto& time = job->known.at(hashes[i]);
    job->candidates[i].time_ns = time.time_ns;
    job->candidates[i].reason = time.problem;
  }
  if (const auto best = fastest(*job))
    use(self, job, *best, keeping::tuning_too);
  else
    without_knowledge(self, job);
}

void recall_times(self_pointer self, const job_ptr& job) {
  const auto& key = job->request->times_key;
  if (!key.cache) return without_knowledge(self, job);
  self->request(self->state.config.shards.owner_of(key), answer_timeout, verb::get_v, key)
      .then(
          [=](const lookup& found) {
            if (found.hit())
              job->known = decode_times(found.value.payload()).value_or(choice_times{});
            const auto hashes = choice_hashes_of(*job->request, observed_by(*job->request));
            if (knows_all(job->known, hashes))
              use_times(self, job, hashes);
            else
              without_knowledge(self, job);
          },
          [=](const caf::error&) { without_knowledge(self, job); });
}

// --- the best ----------------------------------------------------------------------------------

// The candidate with the arguments of the best tuning. A tuning from coordinate descent may match
// no candidate.
std::optional<std::size_t> candidate_of(const tune_request& request, const chosen_config& best) {
  if (best.candidate) return best.candidate;
  const auto at =
      std::find_if(request.candidates.begin(), request.candidates.end(),
                   [&](const tune_candidate& one) { return one.config == best.config.arguments; });
  if (at == request.candidates.end()) return std::nullopt;
  return static_cast<std::size_t>(at - request.candidates.begin());
}

void use_best(self_pointer self, const job_ptr& job, const autotune_found& found) {
  const auto index = candidate_of(*job->request, found.best);
  if (!index) return recall_times(self, job);
  job->candidates.resize(job->request->candidates.size());
  job->candidates[*index].time_ns = found.record.kernel_time_ns;
  use(self, job, *index, keeping::entry_alone);
}

} // namespace

void recall(self_pointer self, const job_ptr& job) {
  const auto& request = *job->request;
  if (request.mode == tune_mode::off) return find_untuned(self, job);
  self->request(self->state.config.autotune, answer_timeout, verb::best_v, request.address,
                choices_of(request), request.notes)
      .then([=](const autotune_found& found) { use_best(self, job, found); },
            [=](const caf::error&) { recall_times(self, job); });
}

} // namespace hearth::actors::tuner
