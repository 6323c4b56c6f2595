#include "actors/kernel_tuner.hpp"

#include "actors/kernel_tuner/compile.hpp"
#include "actors/kernel_tuner/jobs.hpp"
#include "actors/kernel_tuner/keep.hpp"
#include "actors/kernel_tuner/recall.hpp"
#include "messages/key.hpp"

#include <chrono>
#include <utility>

namespace hearth::actors {
namespace tuner {

std::int64_t now_ns(self_pointer self) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             self->clock().now().time_since_epoch())
      .count();
}

namespace {

cache_key lock_key(const tune_request& request) {
  return derived_key(request.family, key("tuning"));
}

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

// Releases the family's lease to its next waiter and starts the next queued entry.
void end_job(self_pointer self, const job_ptr& job) {
  const auto& shards = self->state.config.shards;
  if (job->lease != 0)
    self->send(shards.owner_of(lock_key(*job->request)), verb::release_v, job->lease);
  self->state.jobs.erase(job);
  start_next(self);
}

// --- entries that are there --------------------------------------------------------------------

autotune_record record_of_entry(const tune_request& request, const tune_reply& found) {
  autotune_record record;
  record.config.arguments = found.config;
  record.configs_hash = configs_hash_of(request);
  record.kernel_time_ns = found.time_ns;
  record.label = request.name;
  record.time_taken_ns = found.time_taken_ns;
  return record;
}

} // namespace

std::optional<tune_reply> reply_from_cache(const guarded_reply& found, bool waited) {
  if (found.status != guarded_status::hit) return std::nullopt;
  auto entry = decode_entry(found.found.value);
  if (!entry) return std::nullopt;
  return tune_reply{waited ? tune_status::waited : status_of(found.found.from),
                    found.found.value,
                    std::move(entry->config),
                    std::move(entry->config_text),
                    entry->time_ns,
                    entry->slowest_time_ns,
                    std::move(entry->rejected),
                    {},
                    entry->time_taken_ns};
}

void note_entry(self_pointer self, const tune_request_ptr& request, const tune_reply& found,
                std::function<void()> next) {
  const auto& notes = request->notes;
  if (request->mode == tune_mode::off || (notes.bundle == 0 && notes.recording == 0)) return next();
  const auto& autotune = self->state.config.autotune;
  const auto save = [=] {
    self->request(autotune, until_it_ends, verb::save_v, request->address,
                  record_of_entry(*request, found), request->notes)
        .then([next](const done&) { next(); }, [next](const caf::error&) { next(); });
  };
  self->request(autotune, answer_timeout, verb::best_v, request->address, choices_of(*request),
                request->notes)
      .then([next](const autotune_found&) { next(); }, [save](const caf::error&) { save(); });
}

void finish_job(self_pointer self, const job_ptr& job, const tune_reply& reply) {
  answer_all(self, *job->request, reply);
  end_job(self, job);
}

void look_again_later(self_pointer self, const job_ptr& job) {
  tune_reply reply;
  reply.again = true;
  finish_job(self, job, reply);
}

void fail_job(self_pointer self, const job_ptr& job, std::string problem) {
  tune_reply reply;
  reply.problem = std::move(problem);
  reply.rejected = rejections_of(*job);
  finish_job(self, job, reply);
}

namespace {

// --- from a request to a job -------------------------------------------------------------------

// Called with the family's lease held: another process may have stored the entry meanwhile.
void look_again(self_pointer self, const job_ptr& job) {
  const auto& request = *job->request;
  self->request(self->state.config.guarded, answer_timeout, verb::get_v, request.key, request.sizes)
      .then(
          [=](const guarded_reply& found) {
            const auto reply = reply_from_cache(found, job->waited);
            if (!reply) return recall(self, job);
            note_entry(self, job->request, *reply, [=] { finish_job(self, job, *reply); });
          },
          [=](const caf::error&) { recall(self, job); });
}

void start(self_pointer self, const tune_request_ptr& request) {
  auto job = std::make_shared<kernel_tuner_state::job>();
  job->request = request;
  self->state.jobs.insert(job);
  const auto lock = lock_key(*request);
  self->request(self->state.config.shards.owner_of(lock), until_it_ends, verb::lock_v, lock)
      .then(
          [=](const lease_reply& reply) {
            job->lease = reply.lease.take();
            job->waited = reply.waited;
            job->start_ns = now_ns(self);
            look_again(self, job);
          },
          [=](const caf::error& why) { fail_job(self, job, from_caf(why).text()); });
}

void start_next(self_pointer self) {
  auto& state = self->state;
  while (state.jobs.size() < state.config.max_at_once && !state.queue.empty()) {
    auto request = std::move(state.queue.front());
    state.queue.pop_front();
    start(self, request);
  }
}

void enqueue(self_pointer self, const tune_request_ptr& request) {
  self->state.queue.push_back(request);
  start_next(self);
}

caf::result<tune_reply> tune(self_pointer self, const tune_request_ptr& request) {
  const shared_promise<tune_reply> promise(self->make_response_promise<tune_reply>());
  auto& waiting = self->state.waiting[request->key];
  waiting.push_back(promise);
  if (waiting.size() > 1) return promise.promise();
  self->request(self->state.config.guarded, answer_timeout, verb::get_v, request->key,
                request->sizes)
      .then(
          [=](const guarded_reply& found) {
            const auto reply = reply_from_cache(found, false);
            if (!reply) return enqueue(self, request);
            note_entry(self, request, *reply, [=] { answer_all(self, *request, *reply); });
          },
          [=](const caf::error&) { enqueue(self, request); });
  return promise.promise();
}

} // namespace
} // namespace tuner

kernel_tuner_actor::behavior_type kernel_tuner(tuner::self_pointer self,
                                               kernel_tuner_config config) {
  self->state.config = std::move(config);
  return {
      [self](verb::tune, const tune_request_ptr& request) { return tuner::tune(self, request); },
  };
}

} // namespace hearth::actors
