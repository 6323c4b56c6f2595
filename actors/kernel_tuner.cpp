#include "actors/kernel_tuner.hpp"

#include "actors/tuning_result.hpp"
#include "messages/key.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace hearth::actors {
namespace {

using self_pointer = kernel_tuner_actor::stateful_pointer<kernel_tuner_state>;
using job_ptr = std::shared_ptr<kernel_tuner_state::job>;

constexpr auto answer_timeout = std::chrono::minutes{2};
// Leases, compiles and trials end by deadlines of their own.
constexpr auto until_it_ends = caf::infinite;
constexpr int tuning_priority = 0;

std::int64_t now_ns(self_pointer self) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             self->clock().now().time_since_epoch())
      .count();
}

cache_key lock_key(const tune_request& request) { return derived_key(request.key, key("tuning")); }

void start_next(self_pointer self);

// --- answers -----------------------------------------------------------------------------------

void answer_all(self_pointer self, const tune_request& request, const tune_reply& reply) {
  auto node = self->state.waiting.extract(request.key);
  if (node.empty()) return;
  for (auto& promise : node.mapped())
    promise.deliver(reply);
}

tune_status status_of(tier found) {
  switch (found) {
  case tier::memory: return tune_status::memory;
  case tier::remote: return tune_status::remote;
  case tier::disk:
  case tier::none: break;
  }
  return tune_status::disk;
}

tune_reply reply_of(tune_status status, const artifact& library, entry_metadata entry) {
  return {status,
          library,
          std::move(entry.config),
          std::move(entry.config_text),
          entry.time_ns,
          entry.slowest_time_ns,
          std::move(entry.rejected),
          {}};
}

// Answers from what the guarded cache holds; false when it holds nothing of use.
bool answer_from_cache(self_pointer self, const tune_request& request, const guarded_reply& found,
                       bool waited) {
  if (found.status != guarded_status::hit) return false;
  auto entry = decode_entry(found.found.value);
  if (!entry) return false;
  const auto status = waited ? tune_status::waited : status_of(found.found.from);
  answer_all(self, request, reply_of(status, found.found.value, std::move(*entry)));
  return true;
}

// --- the end of a job --------------------------------------------------------------------------

// The entry's lease goes to the next who waits for it, and another entry may be made.
void end_job(self_pointer self, const job_ptr& job) {
  const auto& shards = self->state.config.shards;
  if (job->lease != 0)
    self->send(shards.owner_of(lock_key(*job->request)), verb::release_v, job->lease);
  --self->state.active;
  start_next(self);
}

void fail_job(self_pointer self, const job_ptr& job, std::string problem,
              std::vector<rejection> rejected) {
  tune_reply reply;
  reply.problem = std::move(problem);
  reply.rejected = std::move(rejected);
  answer_all(self, *job->request, reply);
  end_job(self, job);
}

void finish_job(self_pointer self, const job_ptr& job, const tune_reply& reply) {
  answer_all(self, *job->request, reply);
  end_job(self, job);
}

// --- keeping the winner ------------------------------------------------------------------------

std::vector<rejection> rejections_of(const kernel_tuner_state::job& job) {
  std::vector<rejection> rejected;
  for (std::size_t i = 0; i < job.candidates.size(); ++i) {
    const auto& candidate = job.request->candidates[i];
    if (!job.candidates[i].reason.empty())
      rejected.push_back({candidate.config, candidate.config_text, job.candidates[i].reason});
  }
  return rejected;
}

// The fastest good candidate, or null.
const kernel_tuner_state::trying* winner_of(const kernel_tuner_state::job& job) {
  const kernel_tuner_state::trying* best = nullptr;
  for (const auto& candidate : job.candidates) {
    const bool good = candidate.reason.empty();
    if (good && (!best || candidate.result.median_ns < best->result.median_ns)) best = &candidate;
  }
  return best;
}

std::int64_t slowest_time(const kernel_tuner_state::job& job) {
  std::int64_t slowest = 0;
  for (const auto& candidate : job.candidates)
    if (candidate.reason.empty()) slowest = std::max(slowest, candidate.result.median_ns);
  return slowest;
}

using reply_ptr = std::shared_ptr<tune_reply>;

void store_entry(self_pointer self, const job_ptr& job, const reply_ptr& reply) {
  const auto& request = *job->request;
  self->request(self->state.config.guarded, until_it_ends, verb::insert_v, request.key,
                request.guard, reply->library)
      .then([=](insert_outcome) { finish_job(self, job, *reply); },
            [=](const caf::error& why) {
              reply->problem = "not kept: " + from_caf(why).text();
              finish_job(self, job, *reply);
            });
}

// The configuration through the autotune cache, then the entry: who finds the entry finds both.
void store(self_pointer self, const job_ptr& job, const reply_ptr& reply) {
  const auto& request = *job->request;
  const autotune_record record{reply->config, configs_hash_of(request), reply->time_ns, false};
  self->request(self->state.config.autotune, until_it_ends, verb::save_v, request.autotune_key,
                record)
      .then([=](const done&) { store_entry(self, job, reply); },
            [=](const caf::error&) { store_entry(self, job, reply); });
}

void conclude(self_pointer self, const job_ptr& job) {
  auto rejected = rejections_of(*job);
  const auto* winner = winner_of(*job);
  if (!winner) {
    fail_job(self, job, "no configuration is good", std::move(rejected));
    return;
  }
  const auto& chosen =
      job->request->candidates[static_cast<std::size_t>(winner - job->candidates.data())];
  entry_metadata entry{chosen.config,      chosen.config_text,           winner->result.median_ns,
                       slowest_time(*job), now_ns(self) - job->start_ns, std::move(rejected)};
  const auto library = artifact::make(winner->library.payload(), encode_entry(entry));
  auto reply = reply_of(tune_status::compiled, library, std::move(entry));
  const bool machine_to_blame =
      std::any_of(job->candidates.begin(), job->candidates.end(),
                  [](const auto& candidate) { return !candidate.is_config; });
  if (machine_to_blame) {
    reply.problem = "not kept: a configuration could not be tried on this machine now";
    finish_job(self, job, reply);
    return;
  }
  store(self, job, std::make_shared<tune_reply>(std::move(reply)));
}

// --- compiling and trying the candidates -------------------------------------------------------

void end_candidate(self_pointer self, const job_ptr& job) {
  if (--job->open == 0) conclude(self, job);
}

void reject(self_pointer self, const job_ptr& job, std::size_t index, std::string reason,
            bool is_config) {
  job->candidates[index].reason = std::move(reason);
  job->candidates[index].is_config = is_config;
  end_candidate(self, job);
}

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

void try_candidate(self_pointer self, const job_ptr& job, std::size_t index,
                   const artifact& library) {
  job->candidates[index].library = library;
  const auto& request = *job->request;
  self->request(self->state.config.broker, until_it_ends, verb::trial_v, request.trial, library,
                request.trial_deadline)
      .then(
          [=](const trial_result& result) {
            job->candidates[index].result = result;
            if (result.status == trial_status::good)
              end_candidate(self, job);
            else
              reject(self, job, index, trial_reason(result),
                     result.status != trial_status::not_run);
          },
          [=](const caf::error& why) {
            reject(self, job, index, failure_reason(from_caf(why)), false);
          });
}

// The compile is over: tells those who wait for the action, and goes on with what was made.
void end_compile(self_pointer self, const job_ptr& job, std::size_t index, lease_id lease,
                 const action_result& result) {
  const auto& candidate = job->request->candidates[index];
  const auto& shard = self->state.config.shards.owner_of(candidate.action_key);
  if (!result.process.succeeded()) {
    self->send(shard, verb::abandon_v, lease,
               compile_error(candidate.action.label, result.process));
    reject(self, job, index, compile_reason(result.process), !result.process.cancelled);
    return;
  }
  const auto library = result.outputs.front();
  // The next step begins when the library is kept: what was acknowledged is not compiled again.
  self->request(shard, answer_timeout, verb::fulfil_v, lease, library)
      .then([=](insert_outcome) { try_candidate(self, job, index, library); },
            [=](const caf::error&) { try_candidate(self, job, index, library); });
}

void compile(self_pointer self, const job_ptr& job, std::size_t index, lease_id lease) {
  const auto& candidate = job->request->candidates[index];
  self->request(self->state.config.broker, until_it_ends, verb::run_v, candidate.action,
                tuning_priority)
      .then([=](const action_result& result) { end_compile(self, job, index, lease, result); },
            [=](const caf::error& why) {
              const auto& key = job->request->candidates[index].action_key;
              self->send(self->state.config.shards.owner_of(key), verb::abandon_v, lease,
                         from_caf(why));
              reject(self, job, index, failure_reason(from_caf(why)), false);
            });
}

void make_candidate(self_pointer self, const job_ptr& job, std::size_t index) {
  const auto& candidate = job->request->candidates[index];
  if (candidate.broken) {
    reject(self, job, index, failure_reason(*candidate.broken),
           candidate.broken->code() == errc::compile_failed);
    return;
  }
  const auto& key = candidate.action_key;
  self->request(self->state.config.shards.owner_of(key), until_it_ends, verb::acquire_v, key)
      .then(
          [=](const lease_reply& reply) {
            if (reply.found.hit())
              try_candidate(self, job, index, reply.found.value);
            else
              compile(self, job, index, reply.lease);
          },
          [=](const caf::error& why) {
            const auto e = from_caf(why);
            reject(self, job, index, failure_reason(e), e.code() == errc::compile_failed);
          });
}

void make(self_pointer self, const job_ptr& job) {
  const auto count = job->request->candidates.size();
  job->candidates.resize(count);
  job->open = count;
  job->start_ns = now_ns(self);
  for (std::size_t i = 0; i < count; ++i)
    make_candidate(self, job, i);
}

// --- from a request to a job -------------------------------------------------------------------

// With the entry's lease: somebody may have made it in between.
void look_again(self_pointer self, const job_ptr& job) {
  const auto& request = *job->request;
  self->request(self->state.config.guarded, answer_timeout, verb::get_v, request.key, request.sizes)
      .then(
          [=](const guarded_reply& found) {
            if (answer_from_cache(self, *job->request, found, job->waited))
              end_job(self, job);
            else
              make(self, job);
          },
          [=](const caf::error&) { make(self, job); });
}

void start(self_pointer self, const tune_request_ptr& request) {
  auto job = std::make_shared<kernel_tuner_state::job>();
  job->request = request;
  const auto lock = lock_key(*request);
  self->request(self->state.config.shards.owner_of(lock), until_it_ends, verb::lock_v, lock)
      .then(
          [=](const lease_reply& reply) {
            job->lease = reply.lease;
            job->waited = reply.waited;
            look_again(self, job);
          },
          [=](const caf::error& why) { fail_job(self, job, from_caf(why).text(), {}); });
}

void start_next(self_pointer self) {
  auto& state = self->state;
  while (state.active < state.config.most_at_once && !state.queue.empty()) {
    auto request = std::move(state.queue.front());
    state.queue.pop_front();
    ++state.active;
    start(self, request);
  }
}

void enqueue(self_pointer self, const tune_request_ptr& request) {
  self->state.queue.push_back(request);
  start_next(self);
}

caf::result<tune_reply> tune(self_pointer self, const tune_request_ptr& request) {
  const owed<tune_reply> promise(self->make_response_promise<tune_reply>());
  auto& waiting = self->state.waiting[request->key];
  waiting.push_back(promise);
  if (waiting.size() > 1) return promise.promise();
  self->request(self->state.config.guarded, answer_timeout, verb::get_v, request->key,
                request->sizes)
      .then(
          [=](const guarded_reply& found) {
            if (!answer_from_cache(self, *request, found, false)) enqueue(self, request);
          },
          [=](const caf::error&) { enqueue(self, request); });
  return promise.promise();
}

} // namespace

kernel_tuner_actor::behavior_type kernel_tuner(self_pointer self, kernel_tuner_config config) {
  self->state.config = std::move(config);
  return {
      [self](verb::tune, const tune_request_ptr& request) { return tune(self, request); },
  };
}

} // namespace hearth::actors
