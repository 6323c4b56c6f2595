#include "actors/kernel_tuner/compile.hpp"

#include "actors/kernel_tuner/jobs.hpp"
#include "messages/digest.hpp"
#include "messages/key.hpp"

#include <utility>

namespace hearth::actors::tuner {
namespace {

constexpr int tuning_priority = 0;

// Notes what was done for a candidate since `start_ns`, if there is a trace.
void note_step(self_pointer self, const job_ptr& job, std::size_t index, const char* category,
               std::int64_t start_ns, std::string tier = {}) {
  const auto& trace = self->state.config.trace;
  if (!trace) return;
  const auto& candidate = job->request->candidates[index];
  trace->note({candidate.action.label, category, start_ns, now_ns(self) - start_ns, self->id(),
               traced_key(candidate.action_key), std::move(tier)});
}

void made(const job_ptr& job, std::size_t index, const artifact& library) {
  job->candidates[index].library = library;
  end_one(job);
}

void reject_and_end(const job_ptr& job, std::size_t index, std::string reason, bool is_config) {
  reject(job, index, std::move(reason), is_config);
  end_one(job);
}

// The compile has ended. Fulfils the action's lease, which answers its waiters, and goes on with
// the result.
void end_compile(self_pointer self, const job_ptr& job, std::size_t index, lease_id lease,
                 const action_result& result) {
  const auto& candidate = job->request->candidates[index];
  const auto& shard = self->state.config.shards.owner_of(candidate.action_key);
  if (!result.process.succeeded()) {
    self->send(shard, verb::abandon_v, lease,
               compile_error(candidate.action.label, result.process));
    return reject_and_end(job, index, compile_reason(result.process), !result.process.cancelled);
  }
  const auto library = result.outputs.front();
  // The next step begins when the library is stored, so that no process compiles it again.
  const auto ended_ns = now_ns(self);
  const auto stored = [=] {
    note_step(self, job, index, "insert", ended_ns);
    made(job, index, library);
  };
  self->request(shard, answer_timeout, verb::fulfil_v, lease, library)
      .then([stored](insert_outcome) { stored(); }, [stored](const caf::error&) { stored(); });
}

void run_compiler(self_pointer self, const job_ptr& job, std::size_t index, lease_id lease) {
  auto action = job->request->candidates[index].action;
  action.traced_key = traced_key(job->request->candidates[index].action_key);
  self->request(self->state.config.broker, until_it_ends, verb::run_v, std::move(action),
                tuning_priority)
      .then([=](const action_result& result) { end_compile(self, job, index, lease, result); },
            [=](const caf::error& why) {
              const auto& key = job->request->candidates[index].action_key;
              self->send(self->state.config.shards.owner_of(key), verb::abandon_v, lease,
                         from_caf(why));
              reject_and_end(job, index, failure_reason(from_caf(why)), false);
            });
}

// --- watched compiles --------------------------------------------------------------------------

// The action cache has run the compile, kept its result, and what it read.
void end_watched(const job_ptr& job, std::size_t index, const action_reply& reply) {
  const auto& result = reply.result;
  auto& tried = job->candidates[index];
  if (!result.observed.empty()) tried.observed = sha256(result.observed).view();
  if (job->unkept.empty()) job->unkept = reply.problem;
  if (!result.process.succeeded())
    return reject_and_end(job, index, compile_reason(result.process), !result.process.cancelled);
  made(job, index, result.outputs.front());
}

void run_watched(self_pointer self, const job_ptr& job, std::size_t index) {
  const auto& candidate = job->request->candidates[index];
  self->request(self->state.config.actions, until_it_ends, verb::run_v, candidate.action_key,
                candidate.action, tuning_priority)
      .then(
          [=](const action_reply& reply) {
            if (!reply.again) return end_watched(job, index, reply);
            job->looks_again = true;
            end_one(job);
          },
          [=](const caf::error& why) {
            reject_and_end(job, index, failure_reason(from_caf(why)), false);
          });
}

// Finds the shared object by the observation that holds, or compiles.
void find_watched(self_pointer self, const job_ptr& job, std::size_t index) {
  const auto& candidate = job->request->candidates[index];
  if (candidate.observed.empty()) return run_watched(self, job, index);
  const auto key = derived_key(candidate.action_key, key::bytes(candidate.observed));
  self->request(self->state.config.shards.owner_of(key), answer_timeout, verb::get_v, key)
      .then(
          [=](const lookup& found) {
            const auto known = found.hit() ? decode_result(found.value)
                                           : expected<action_result>(fail(errc::not_found, ""));
            if (!known || !known->process.succeeded() || known->outputs.size() != 1)
              return run_watched(self, job, index);
            job->candidates[index].observed = job->request->candidates[index].observed;
            made(job, index, known->outputs.front());
          },
          [=](const caf::error&) { run_watched(self, job, index); });
}

// --- one candidate -----------------------------------------------------------------------------

void compile_one(self_pointer self, const job_ptr& job, std::size_t index) {
  const auto& candidate = job->request->candidates[index];
  if (job->candidates[index].library || !job->candidates[index].reason.empty()) return end_one(job);
  if (candidate.broken)
    return reject_and_end(job, index, failure_reason(*candidate.broken),
                          candidate.broken->code() == errc::compile_failed);
  if (discovers(candidate.action)) return find_watched(self, job, index);
  const auto& key = candidate.action_key;
  const auto asked_ns = now_ns(self);
  self->request(self->state.config.shards.owner_of(key), until_it_ends, verb::acquire_v, key)
      .then(
          [=](const lease_reply& reply) {
            const bool is_hit = reply.found.hit() && !reply.waited;
            note_step(self, job, index, "wait", asked_ns,
                      is_hit ? std::string(to_string(reply.found.from)) : std::string());
            if (reply.found.hit())
              made(job, index, reply.found.value);
            else
              run_compiler(self, job, index, reply.lease.take());
          },
          [=](const caf::error& why) {
            const auto e = from_caf(why);
            reject_and_end(job, index, failure_reason(e), e.code() == errc::compile_failed);
          });
}

} // namespace

void reject(const job_ptr& job, std::size_t index, std::string reason, bool is_config) {
  job->candidates[index].reason = std::move(reason);
  job->candidates[index].is_config = is_config;
}

bool is_good(const job_ptr& job, std::size_t index) {
  return job->candidates[index].reason.empty() && job->candidates[index].library;
}

void end_one(const job_ptr& job) {
  if (--job->open == 0) std::exchange(job->next, nullptr)();
}

void compile(self_pointer self, const job_ptr& job, const candidates& some,
             std::function<void()> next) {
  job->candidates.resize(job->request->candidates.size());
  if (some.empty()) return next();
  job->open = some.size();
  job->next = [self, job, next = std::move(next)] {
    if (job->looks_again)
      look_again_later(self, job);
    else
      next();
  };
  for (const auto index : some)
    compile_one(self, job, index);
}

} // namespace hearth::actors::tuner
