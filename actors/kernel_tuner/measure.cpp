#include "actors/kernel_tuner/measure.hpp"

#include "actors/kernel_tuner/compile.hpp"
#include "actors/kernel_tuner/jobs.hpp"
#include "actors/kernel_tuner/keep.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace hearth::actors::tuner {
namespace {

// The length of one round of a contest. A contest has at most five rounds.
constexpr std::int64_t round_ns = 20'000'000;

std::string trial_reason(const trial_result& result) {
  switch (result.status) {
  case trial_status::good: return {};
  case trial_status::wrong: return "wrong result: " + result.reason;
  case trial_status::crashed: return "crashed: " + result.reason;
  case trial_status::hung: return "hung: " + result.reason;
  case trial_status::unfit: return "cannot be tried: " + result.reason;
  case trial_status::not_run: return "not tried: " + result.reason;
  }
  return result.reason;
}

// --- one trial ---------------------------------------------------------------------------------

void end_trial(const job_ptr& job, std::size_t index, const trial_result& result) {
  auto& tried = job->candidates[index];
  if (result.status == trial_status::good) {
    tried.is_right = true;
    job->rounds.note(index, result.time_ns);
    tried.time_ns = job->rounds.median_ns(index);
  } else {
    reject(job, index, trial_reason(result), result.status != trial_status::not_run);
    job->rounds.drop(index);
  }
  end_one(job);
}

void try_one(self_pointer self, const job_ptr& job, std::size_t index) {
  const auto& request = *job->request;
  auto trial = request.trial;
  trial.timing_ns = round_ns;
  // A candidate whose results were right once is only timed from then on.
  if (job->candidates[index].is_right) trial.reference.clear();
  self->request(self->state.config.broker, until_it_ends, verb::trial_v, std::move(trial),
                job->candidates[index].library, request.trial_deadline)
      .then([=](const trial_result& result) { end_trial(job, index, result); },
            [=](const caf::error& why) {
              reject(job, index, failure_reason(from_caf(why)), false);
              job->rounds.drop(index);
              end_one(job);
            });
}

// --- contests ----------------------------------------------------------------------------------

void run_rounds(self_pointer self, const job_ptr& job, const std::function<void()>& next) {
  const auto round = job->rounds.next_round();
  if (round.empty()) return next();
  job->open = round.size();
  job->next = [=] { run_rounds(self, job, next); };
  for (const auto index : round)
    try_one(self, job, index);
}

// Compiles the candidates and measures those that compiled in turn, until the contest is decided.
void compare(self_pointer self, const job_ptr& job, const candidates& some,
             const std::function<void()>& next) {
  compile(self, job, some, [=] {
    job->rounds = {};
    for (const auto index : some)
      if (is_good(job, index)) job->rounds.enter(index);
    run_rounds(self, job, next);
  });
}

void conclude(self_pointer self, const job_ptr& job) {
  if (const auto winner = job->rounds.winner())
    keep(self, job, *winner, keeping::tuning_too);
  else
    fail_job(self, job, "no configuration is good");
}

void measure_all(self_pointer self, const job_ptr& job) {
  candidates all(job->request->candidates.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  compare(self, job, all, [=] { conclude(self, job); });
}

// --- coordinate descent ------------------------------------------------------------------------

// Chooses the best of the candidates at which a descent ended. If none of them is good, the other
// candidates are measured too.
void end_descent(self_pointer self, const job_ptr& job) {
  candidates ends = job->descent->optima();
  std::erase_if(ends, [&](std::size_t index) { return !is_good(job, index); });
  std::sort(ends.begin(), ends.end());
  ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
  if (!ends.empty()) return compare(self, job, ends, [=] { conclude(self, job); });
  job->descent.reset();
  measure_all(self, job);
}

void descend(self_pointer self, const job_ptr& job) {
  auto some = job->descent->next();
  if (some.empty()) return end_descent(self, job);
  const auto here = job->descent->current();
  if (std::find(some.begin(), some.end(), here) == some.end()) some.push_back(here);
  compare(self, job, some, [=] {
    job->descent->note(job->rounds.winner().value_or(here));
    descend(self, job);
  });
}

void measure_by_descent(self_pointer self, const job_ptr& job) {
  std::vector<value::map> grid;
  for (const auto& candidate : job->request->candidates)
    grid.push_back(candidate.config);
  const auto budget = coordinate_descent::usual_budget(grid.size());
  job->descent.emplace(std::move(grid), budget);
  descend(self, job);
}

// --- without tuning ----------------------------------------------------------------------------

void try_in_order(self_pointer self, const job_ptr& job, std::size_t index) {
  if (index == job->request->candidates.size())
    return fail_job(self, job, "no configuration is good");
  compare(self, job, {index}, [=] {
    if (is_good(job, index))
      keep(self, job, index, keeping::entry_alone);
    else
      try_in_order(self, job, index + 1);
  });
}

} // namespace

void measure(self_pointer self, const job_ptr& job) {
  if (job->request->mode == tune_mode::descent)
    measure_by_descent(self, job);
  else
    measure_all(self, job);
}

void take_first(self_pointer self, const job_ptr& job) { try_in_order(self, job, 0); }

} // namespace hearth::actors::tuner
