#include "runtime/simulation/simulator/run.hpp"

#include "runtime/simulation/text.hpp"
#include "storage/bundle/record_head.hpp"

#include <algorithm>

namespace hearth::simulation {

// A bundle is in no tier of a host; without a server it is in all of them, so that sessions of one
// host are tried too.
member_history& random_run::bundled(std::size_t bundle, std::size_t k) {
  return bundled_.try_emplace({bundle, k}, !has_remote_).first->second;
}

// The cache that receives the tunings of a bundle for this client; at the end an empty one, without
// those that the server has lost.
named_cache_ptr random_run::tunings_cache(const worker_state& worker, std::size_t bundle) {
  return *world_.cache(is_at_end_ ? "final" : "bundled",
                       worker.name + "b" + std::to_string(bundle));
}

void random_run::work_in_session(worker_state& worker) {
  if (worker.session == 0) return begin_session(worker, random_.below(bundle_keys_.size()));
  const auto k = random_.below(autotune_keys_.size());
  switch (random_.below(8)) {
  case 0: return abandon_session(worker);
  case 1:
  case 2: return finish_session(worker);
  case 3: return best_tuning(worker, k);
  default: return save_tuning(worker, k);
  }
}

// Begins a session, and reads what the bundle has of each tuning.
void random_run::begin_session(worker_state& worker, std::size_t bundle) {
  const auto begun = begin_question(worker);
  request<bundle_session>(
      worker, actor_of<autotune_bundler_actor>(worker, actor_kind::bundler),
      [=, this, &worker](const expected<bundle_session>& session) {
        if (!session) return check_error(hosts_.at(worker.host), begun, session.error());
        worker.session = session->id;
        worker.bundle = bundle;
        worker.found.clear();
        read_bundled(worker, begun, session->entries);
      },
      verb::begin_v, bundle_keys_[bundle], tunings_cache(worker, bundle));
}

// Reads the next tuning from the cache that received the bundle's.
void random_run::read_bundled(worker_state& worker, moment begun, std::uint64_t entries) {
  if (worker.found.size() == autotune_keys_.size()) return judge_session(worker, begun, entries);
  const auto name = tuning_address(worker.found.size()).name;
  const cache_key at(tunings_cache(worker, worker.bundle), key(name).encoded());
  request<lookup>(
      worker, world_.process(worker.process)->router().owner_of(at),
      [=, this, &worker](const expected<lookup>& found) {
        if (!found) return check_error(hosts_.at(worker.host), begun, found.error());
        const auto record = decode_record(found->value.payload());
        worker.found.push_back(found->hit() && record ? std::to_string(record->time_taken_ns) : "");
        read_bundled(worker, begun, entries);
      },
      verb::get_v, at);
}

void random_run::judge_session(const worker_state& worker, moment begun, std::uint64_t entries) {
  const auto& found = worker.found;
  for (std::size_t k = 0; k < found.size(); ++k)
    if (const auto wrong = judge_bundled(worker, k, begun); !wrong.empty())
      violate(worker.name + " got of " + text_of(bundle_keys_[worker.bundle]) + " " +
              tuning_address(k).name + " " + wrong);
  const auto missing = static_cast<std::uint64_t>(std::count(found.begin(), found.end(), ""));
  if (entries + missing > found.size() && !may_miss_since(hosts_.at(worker.host), begun))
    violate(worker.name + " did not get the " + std::to_string(entries) + " tunings of " +
            text_of(bundle_keys_[worker.bundle]));
}

std::string random_run::judge_bundled(const worker_state& worker, std::size_t k, moment begun) {
  const auto& past = bundled(worker.bundle, k);
  const auto& time = worker.found[k];
  if (!time.empty() && !past.has(time, now())) return "a tuning that no session noted";
  if (is_bundle_final_)
    if (auto wrong = time.empty() ? past.judge_miss_at_end() : past.judge_hit_at_end(time);
        !wrong.empty())
      return wrong;
  if (may_miss_since(hosts_.at(worker.host), begun)) return {};
  return time.empty() ? past.judge_miss(worker.host, begun, now())
                      : past.judge_hit(worker.host, time, begun, now());
}

tuning_notes random_run::notes_of(const worker_state& worker) {
  return {worker.session, worker.recording ? worker.recording->number : 0};
}

// What the session and the recording have noted of a tuning last.
void random_run::note_tuning(worker_state& worker, std::size_t k, const autotune_record& record) {
  if (worker.session != 0) worker.noted[k] = std::to_string(record.time_taken_ns);
  note_artifact(worker, std::string(storage::tuning_record_type), autotune_keys_[k],
                encode_record(record));
}

// Ends the session: its tunings are added to the bundle, unless that had all of them.
void random_run::finish_session(worker_state& worker) {
  const auto id = std::exchange(worker.session, 0);
  const auto begun = begin_question(worker);
  std::map<std::size_t, std::size_t> writes; // by tuning
  for (const auto& [k, time] : std::exchange(worker.noted, {}))
    writes[k] = bundled(worker.bundle, k).begin(begun, worker.host, worker.process, time);
  const auto unanswered = unanswered_by_fleet(worker.process);
  request<bundle_end>(
      worker, actor_of<autotune_bundler_actor>(worker, actor_kind::bundler),
      [=, this, &worker, bundle = worker.bundle](const expected<bundle_end>& end) {
        const auto& host = hosts_.at(worker.host);
        if (!end) return check_error(host, begun, end.error());
        if (end->stored && writes.empty()) violate(worker.name + " stored a session of nothing");
        // A session that could not read the bundle may have been taken for an earlier one.
        const bool is_certain = has_remote_ || !may_miss_since(host, begun);
        const bool knew_fleet = unanswered_by_fleet(worker.process) == unanswered;
        for (const auto& [k, number] : writes)
          if (!end->stored)
            bundled(bundle, k).withdraw(number);
          else if (is_certain)
            bundled(bundle, k).succeed(number, now(), knew_fleet);
      },
      verb::finish_v, id);
}

// Ends the session; nothing is stored.
void random_run::abandon_session(worker_state& worker) {
  const auto id = std::exchange(worker.session, 0);
  worker.noted.clear();
  rest(worker);
  if (id != 0 && world_.process(worker.process)->is_running())
    worker.self->sender().send(actor_of<autotune_bundler_actor>(worker, actor_kind::bundler),
                               verb::abandon_v, id);
}

// --- at the end --------------------------------------------------------------------------------

// All sessions end at once.
void random_run::end_sessions() {
  for (auto& worker : workers_)
    if (worker.session != 0) finish_session(worker);
  answer_all();
}

// Every process finds the same tunings in a bundle, and what has reached the server.
void random_run::check_bundles() {
  is_at_end_ = true;
  is_bundle_final_ = is_fleet_whole_ && has_kept_all_of(":bundles:");
  const bool may_differ = is_tight_ || std::any_of(hosts_.begin(), hosts_.end(), [&](auto& one) {
                            return has_unwritten_members(one.second);
                          });
  for (std::size_t bundle = 0; bundle < bundle_keys_.size(); ++bundle) {
    std::map<std::string, std::vector<std::string>> first; // by host; with a server one for all
    for (auto* worker : one_of_each_process()) {
      if (!result_.violation.empty()) return;
      begin_session(*worker, bundle);
      answer_all();
      const auto [at, is_first] = first.try_emplace(has_remote_ ? "" : worker->host, worker->found);
      if (at->second != worker->found && !may_differ)
        violate(worker->name + " finds other tunings in " + text_of(bundle_keys_[bundle]) +
                " than the first process");
      abandon_session(*worker);
    }
  }
}

} // namespace hearth::simulation
