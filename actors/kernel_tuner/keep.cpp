#include "actors/kernel_tuner/keep.hpp"

#include "actors/kernel_tuner/compile.hpp"
#include "actors/kernel_tuner/jobs.hpp"
#include "actors/replace_entry.hpp"

#include <algorithm>
#include <utility>

namespace hearth::actors::tuner {
namespace {

using reply_ptr = std::shared_ptr<tune_reply>;

std::int64_t slowest_time(const kernel_tuner_state::job& job) {
  std::int64_t slowest = 0;
  for (const auto& candidate : job.candidates)
    if (candidate.reason.empty()) slowest = std::max(slowest, candidate.time_ns);
  return slowest;
}

// A failure that the machine caused says nothing about the candidate.
bool is_machine_to_blame(const kernel_tuner_state::job& job) {
  return std::any_of(job.candidates.begin(), job.candidates.end(),
                     [](const auto& candidate) { return !candidate.is_config; });
}

autotune_record record_of(self_pointer self, const job_ptr& job, const tune_reply& reply) {
  autotune_record record;
  record.config.arguments = reply.config;
  record.config.found_by_coordesc = job->descent.has_value();
  record.configs_hash = configs_hash_of(*job->request);
  record.time_taken_ns = now_ns(self) - job->start_ns;
  record.kernel_time_ns = reply.time_ns;
  record.label = job->request->name;
  return record;
}

// What is known of each candidate's inputs, once this job has run some.
std::vector<std::string> observed_in(const kernel_tuner_state::job& job) {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < job.candidates.size(); ++i) {
    const auto& own = job.candidates[i].observed;
    all.push_back(own.empty() ? job.request->candidates[i].observed : own);
  }
  return all;
}

// The known times of the family, with the new measurements.
choice_times times_of(const kernel_tuner_state::job& job) {
  auto times = job.known;
  const auto hashes = choice_hashes_of(*job.request, observed_in(job));
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    const auto& one = job.candidates[i];
    if (one.time_ns > 0 || !one.reason.empty())
      times.insert_or_assign(hashes[i], choice_time{one.time_ns, one.reason});
  }
  return times;
}

void store_entry(self_pointer self, const job_ptr& job, const reply_ptr& reply) {
  const auto& request = *job->request;
  const auto keys = request.keys_of ? request.keys_of(reply->observed)
                                    : entry_keys{request.key, request.untuned_key};
  const auto& key = job->is_untuned ? keys.untuned : keys.tuned;
  self->request(self->state.config.guarded, until_it_ends, verb::insert_v, key, request.guard,
                reply->library)
      .then([=](insert_outcome) { finish_job(self, job, *reply); },
            [=](const caf::error& why) {
              reply->problem = "not kept: " + from_caf(why).text();
              finish_job(self, job, *reply);
            });
}

void store_times(self_pointer self, const job_ptr& job, const reply_ptr& reply) {
  const auto& key = job->request->times_key;
  if (!key.cache) return store_entry(self, job, reply);
  replace_entry(self, self->state.config.shards, key, artifact::make(encode_times(times_of(*job))),
                [=](const expected<done>&) { store_entry(self, job, reply); });
}

// Stores the tuning first, then the entry: a process that finds the entry finds the tuning too.
void store_tuning(self_pointer self, const job_ptr& job, const reply_ptr& reply) {
  const auto& request = *job->request;
  self->request(self->state.config.autotune, until_it_ends, verb::save_v, request.address,
                record_of(self, job, *reply), request.notes)
      .then([=](const done&) { store_times(self, job, reply); },
            [=](const caf::error&) { store_times(self, job, reply); });
}

// The winner as an entry of the guarded cache.
reply_ptr entry_of(self_pointer self, const job_ptr& job, std::size_t winner) {
  const auto& chosen = job->request->candidates[winner];
  const auto& tried = job->candidates[winner];
  auto reply = std::make_shared<tune_reply>();
  reply->status = tune_status::compiled;
  reply->config = chosen.config;
  reply->config_text = chosen.config_text;
  reply->time_ns = tried.time_ns;
  reply->slowest_time_ns = slowest_time(*job);
  reply->rejected = rejections_of(*job);
  reply->time_taken_ns = now_ns(self) - job->start_ns;
  reply->observed = observed_in(*job);
  const entry_metadata entry{reply->config,          reply->config_text,   reply->time_ns,
                             reply->slowest_time_ns, reply->time_taken_ns, reply->rejected};
  reply->library = artifact::make(tried.library.payload(), encode_entry(entry));
  return reply;
}

} // namespace

std::vector<rejection> rejections_of(const kernel_tuner_state::job& job) {
  std::vector<rejection> rejected;
  for (std::size_t i = 0; i < job.candidates.size(); ++i) {
    const auto& candidate = job.request->candidates[i];
    if (!job.candidates[i].reason.empty())
      rejected.push_back({candidate.config, candidate.config_text, job.candidates[i].reason});
  }
  return rejected;
}

void keep(self_pointer self, const job_ptr& job, std::size_t winner, keeping what) {
  const auto reply = entry_of(self, job, winner);
  if (is_machine_to_blame(*job)) {
    reply->problem = "not kept: a configuration could not be tried on this machine now";
    return finish_job(self, job, *reply);
  }
  if (!job->unkept.empty()) {
    reply->problem = "not kept: " + job->unkept;
    return finish_job(self, job, *reply);
  }
  if (what == keeping::tuning_too)
    store_tuning(self, job, reply);
  else
    store_entry(self, job, reply);
}

} // namespace hearth::actors::tuner
