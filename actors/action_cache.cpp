#include "actors/action_cache.hpp"

#include "actors/growing_set.hpp"
#include "actors/timeouts.hpp"
#include "messages/digest.hpp"
#include "messages/key.hpp"

#include <algorithm>
#include <utility>

namespace hearth::actors {
namespace {

using job_ptr = action_cache_state::job_ptr;

std::int64_t nanoseconds_of(caf::actor_clock::duration_type time) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time).count();
}

// Requests from different folders find different files.
std::string name_of(const cache_key& key, const action_request& request) {
  const auto& folder =
      request.view.folder.empty() ? request.process.directory : request.view.folder;
  return (std::to_string(key.cache->number) + "/" + folder + "/").append(key.bytes);
}

// The key whose lease a job takes: the result's own key, or, for an action that discovers inputs, a
// key used only for mutual exclusion.
cache_key leased_key(const action_cache_state::job& job) {
  return discovers(job.request) ? derived_key(job.key, key("run")) : job.key;
}

const memory_shard_actor& owner_of(action_cache_pointer self, const cache_key& key) {
  return self->state.config.shards.owner_of(key);
}

// Notes what the job did since `start`, if there is a trace.
void note_step(action_cache_pointer self, const job_ptr& job, const char* category,
               caf::actor_clock::time_point start, std::string tier = {}) {
  if (const auto& trace = self->state.config.trace)
    trace->note({job->request.label, category, nanoseconds_of(start.time_since_epoch()),
                 nanoseconds_of(self->clock().now() - start), self->id(), traced_key(job->key),
                 std::move(tier)});
}

// --- the end of a job --------------------------------------------------------------------------

// Requests that arrive from now on start a new job.
void forget(action_cache_pointer self, const job_ptr& job) {
  const auto at = self->state.jobs.find(name_of(job->key, job->request));
  if (at != self->state.jobs.end() && at->second == job) self->state.jobs.erase(at);
}

void release(action_cache_pointer self, const job_ptr& job) {
  const auto lease = std::exchange(job->lease, 0);
  if (lease != 0) self->send(owner_of(self, leased_key(*job)), verb::release_v, lease);
}

// The caller has to check the observations again.
action_reply look_again_reply(std::optional<member_set> known = {}) {
  return {{}, false, true, {}, std::move(known)};
}

void finish(action_cache_pointer self, const job_ptr& job, const expected<action_reply>& reply) {
  if (job->ended != caf::actor_clock::time_point{}) note_step(self, job, "insert", job->ended);
  release(self, job);
  forget(self, job);
  for (auto& waiting : std::exchange(job->waiters, {}))
    waiting.deliver(reply);
  for (auto& waiting : std::exchange(job->late, {}))
    waiting.deliver(look_again_reply());
}

// --- keeping a result --------------------------------------------------------------------------

using failure_keeping = action_request::failure_keeping;

failure_keeping kept_of(const action_request& request, const action_result& result) {
  const auto& run = result.process;
  if (!result.unkept.empty()) return failure_keeping::nothing;
  if (run.succeeded()) return failure_keeping::result;
  // A program that failed wrote no dependency file: its inputs are unknown, unless it was watched.
  const bool knows_inputs = request.process.watch != watching::none || !discovers(request);
  return run.exited() && knows_inputs ? request.failures : failure_keeping::nothing;
}

action_reply reply_of(const action_result& result, std::string problem = {}) {
  return {result, true, false, std::move(problem)};
}

void keep(action_cache_pointer self, const job_ptr& job, const action_result& result) {
  const auto lease = std::exchange(job->lease, 0);
  self->request(owner_of(self, job->key), answer_timeout, verb::fulfil_v, lease,
                encode_result(result))
      .then([=](insert_outcome) { finish(self, job, reply_of(result)); },
            [=](const caf::error& why) {
              finish(self, job, reply_of(result, from_caf(why).text()));
            });
}

// `is_new`: its result is. An observation that is known already does not become a later one.
void keep_observation(action_cache_pointer self, const job_ptr& job, const action_result& result,
                      bool is_new) {
  set_change change;
  (is_new ? change.written : change.added).push_back({result.observed, {}});
  change.limits = observation_limits;
  change_set(self, self->state.config.shards, observations_key(job->key), std::move(change),
             [=](const expected<set_reply>& kept) {
               finish(self, job, reply_of(result, kept ? "" : kept.error().text()));
             });
}

// Stores the result first, then the observation that leads to it.
void keep_observed(action_cache_pointer self, const job_ptr& job, const action_result& result) {
  const auto where = observed_key(job->key, result.observed);
  self->request(owner_of(self, where), answer_timeout, verb::insert_v, where, encode_result(result))
      .then(
          [=](insert_outcome stored) {
            keep_observation(self, job, result, stored == insert_outcome::inserted);
          },
          [=](const caf::error& why) {
            finish(self, job, reply_of(result, from_caf(why).text()));
          });
}

void conclude(action_cache_pointer self, const job_ptr& job, const action_result& result) {
  job->ended = self->clock().now();
  switch (kept_of(job->request, result)) {
  case failure_keeping::nothing: return finish(self, job, reply_of(result, result.unkept));
  case failure_keeping::inputs: return keep_observation(self, job, result, false);
  case failure_keeping::result:
    return discovers(job->request) ? keep_observed(self, job, result) : keep(self, job, result);
  }
}

action_reply timed_out_waiting() {
  action_reply reply;
  reply.result.process.timed_out = true;
  reply.problem = "was not run: another process runs it and did not end within the timeout";
  return reply;
}

// --- running -----------------------------------------------------------------------------------

bool is_wanted(const action_cache_state::job& job) {
  const auto waits = [](const auto& one) { return one.wanted(); };
  return std::any_of(job.waiters.begin(), job.waiters.end(), waits) ||
         std::any_of(job.late.begin(), job.late.end(), waits);
}

// What is left of the action's time limit, which counts from its request.
std::chrono::milliseconds time_left(action_cache_pointer self, const job_ptr& job) {
  if (job->request.limits_run_alone) return job->request.process.deadline;
  const auto waited =
      std::chrono::duration_cast<std::chrono::milliseconds>(self->clock().now() - job->asked);
  return std::max(job->request.process.deadline - waited, std::chrono::milliseconds{1});
}

void run(action_cache_pointer self, const job_ptr& job) {
  auto request = job->request;
  request.process.deadline = time_left(self, job);
  request.stop = job->stop.get_token();
  request.traced_key = traced_key(job->key);
  job->has_started = true;
  self->request(self->state.config.broker, until_it_ends, verb::run_v, std::move(request),
                job->priority)
      .then([=](const action_result& result) { conclude(self, job, result); },
            [=](const caf::error& why) { finish(self, job, fail(from_caf(why))); });
}

template <class Verb>
void ask_for_lease(action_cache_pointer self, const job_ptr& job, Verb verb);

// Erases an entry that cannot be read, and runs the action.
void answer_found(action_cache_pointer self, const job_ptr& job, const artifact& entry) {
  auto found = decode_result(entry);
  if (found) return finish(self, job, action_reply{std::move(*found), false, false, {}});
  self->request(owner_of(self, job->key), answer_timeout, verb::erase_v, job->key)
      .then([=](bool) { ask_for_lease(self, job, verb::acquire_v); },
            [=](const caf::error& why) { finish(self, job, fail(from_caf(why))); });
}

// Called with the lease held. Another process or host may have added observations; the caller
// checks them.
void look_again(action_cache_pointer self, const job_ptr& job) {
  const earlier_form list{derived_key(job->key, observation_list_part()), observations_in_list};
  refresh_set(self, self->state.config.shards, observations_key(job->key), observation_limits, list,
              [=](const known_set& found) {
                if (digest_of(found.members) == job->request.seen)
                  run(self, job);
                else
                  finish(self, job, look_again_reply(found.members));
              });
}

void go_on(action_cache_pointer self, const job_ptr& job, const lease_reply& reply) {
  job->lease = reply.lease.take();
  const auto from = reply.found.hit() && !reply.waited ? to_string(reply.found.from) : "";
  note_step(self, job, "wait", job->asked, std::string(from));
  if (reply.found.hit())
    answer_found(self, job, reply.found.value);
  else if (!is_wanted(*job))
    finish(self, job, fail(errc::cancelled, "every caller of this action has given up"));
  else if (discovers(job->request))
    look_again(self, job);
  else
    run(self, job);
}

template <class Verb>
void ask_for_lease(action_cache_pointer self, const job_ptr& job, Verb verb) {
  const auto key = leased_key(*job);
  // An action without a time limit of its own has one of a year: no timer is kept for it.
  constexpr std::chrono::hours longest_timer{24};
  const auto left = time_left(self, job);
  const bool is_bounded = left < longest_timer && !job->request.limits_run_alone;
  const auto wait = is_bounded ? caf::duration(left) : caf::duration(until_it_ends);
  self->request(owner_of(self, key), wait, verb, key)
      .then([=](const lease_reply& reply) { go_on(self, job, reply); },
            [=](const caf::error& why) {
              if (why == caf::sec::request_timeout) return finish(self, job, timed_out_waiting());
              finish(self, job, fail(from_caf(why)));
            });
}

void start(action_cache_pointer self, const cache_key& key, const action_request& request,
           int priority, reply_target<action_reply> waiting) {
  auto& job = self->state.jobs[name_of(key, request)];
  const bool is_new = !job;
  if (is_new)
    job =
        std::make_shared<action_cache_state::job>(action_cache_state::job{key, request, priority});
  auto& waiters = job->has_started && discovers(request) ? job->late : job->waiters;
  waiters.push_back(std::move(waiting));
  if (!is_new) return;
  job->asked = self->clock().now();
  if (discovers(request))
    ask_for_lease(self, job, verb::lock_v);
  else
    ask_for_lease(self, job, verb::acquire_v);
}

// Cancels every run of the key that has no waiter left. A later request starts a new job, which
// waits for the lease of the cancelled one.
void withdraw(action_cache_pointer self, const cache_key& key) {
  auto& jobs = self->state.jobs;
  for (auto at = jobs.begin(); at != jobs.end();) {
    const auto job = at->second;
    const bool gone = job->key == key && !is_wanted(*job);
    at = gone ? jobs.erase(at) : std::next(at);
    if (gone) job->stop.request_stop();
  }
}

} // namespace

cache_key observations_key(const cache_key& action) {
  return derived_key(action, observations_part());
}

cache_key observed_key(const cache_key& action, const std::string& observation) {
  return derived_key(action, observed_part(observation));
}

action_cache_actor::behavior_type action_cache(action_cache_pointer self,
                                               action_cache_config config) {
  self->state.config = std::move(config);
  return {
      [self](verb::run, const cache_key& key, const action_request& request, int priority) {
        reply_target<action_reply> waiting(self->make_response_promise<action_reply>());
        const auto promise = waiting.promise();
        start(self, key, request, priority, std::move(waiting));
        return promise;
      },
      [self](verb::run, const cache_key& key, const action_request& request, int priority,
             const action_completion& waiting) { start(self, key, request, priority, waiting); },
      [self](verb::withdraw, const cache_key& key) { withdraw(self, key); },
  };
}

} // namespace hearth::actors
