#include "runtime/simulation/simulator/run.hpp"

#include "runtime/simulation/text.hpp"

#include <algorithm>

namespace hearth::simulation {

// --- the work of clients ---------------------------------------------------------------------

const memory_shard_actor& random_run::owner_of(const worker_state& worker, std::size_t k) {
  return world_.process(worker.process)->router().owner_of(keys_[k].key);
}

history& random_run::history_of(const worker_state& worker, std::size_t k) {
  return hosts_.at(worker.host).histories[k];
}

void random_run::act(worker_state& worker) {
  if (worker.lease != 0) return end_lease(worker);
  if (random_.one_in(7)) return compile_something(worker);
  const auto k = random_.below(keys_.size());
  const auto choice = random_.below(10);
  if (choice < 4) return get(worker, k);
  if (choice < 6) return insert(worker, k);
  if (choice < 8) return acquire(worker, k);
  if (!keys_[k].is_mutable) return get(worker, k);
  return choice == 8 ? put(worker, k) : erase(worker, k);
}

// Bytes that name their key and write, unique to this write.
std::string random_run::new_value(std::size_t k) {
  auto bytes = "k" + std::to_string(k) + "w" + std::to_string(++writes_) + ".";
  constexpr std::size_t letters = 26;
  std::string alphabet(letters, 'a');
  for (std::size_t i = 0; i < letters; ++i)
    alphabet[i] = static_cast<char>('a' + i * writes_ % letters);
  const auto size = std::max(bytes.size(), random_.below(max_value_bytes_));
  bytes.reserve(size + letters);
  while (bytes.size() < size)
    bytes += alphabet;
  bytes.resize(size);
  if (has_remote_) written_[k].insert(bytes);
  return bytes;
}

void random_run::get(worker_state& worker, std::size_t k) {
  const auto begun = begin_question(worker);
  ask<lookup>(
      worker, owner_of(worker, k),
      [=, this, &worker](const expected<lookup>& found) { judge(worker, k, begun, found); },
      verb::get_v, keys_[k].key);
}

void random_run::judge(const worker_state& worker, std::size_t k, moment begun,
                       const expected<lookup>& found, bool waited) {
  const auto& host = hosts_.at(worker.host);
  end_purges();
  if (!found) return check_error(host, begun, found.error());
  const auto& past = history_of(worker, k);
  const bool may_miss = may_miss_since(host, begun);
  std::string wrong;
  if (found->hit())
    wrong = past.judge_hit(found->value.payload(), begun, now(), waited);
  else if (!may_miss)
    wrong = past.judge_miss(begun, now());
  if (found->hit() && !waited)
    if (const auto undone = judge_undone(worker, k, begun, found->value.payload()); !undone.empty())
      violate(worker.name + " got of " + text_of(keys_[k].key) + " " + undone);
  if (found->hit() && may_be_foreign(worker, k, begun, found->value.payload())) return;
  if (!wrong.empty()) violate(worker.name + " got of " + text_of(keys_[k].key) + " " + wrong);
}

// A process may return a value that its disk refused until the disk has stored it, or has returned
// another value. The disk counts as failing until then.
random_run::moment random_run::begin_question(const worker_state& worker) {
  auto& host = hosts_.at(worker.host);
  end_purges();
  if (host.had_faults && has_unpersisted(host)) host.last_faulty_step = now() + 1;
  return now();
}

bool random_run::has_unpersisted(const host_state& host) {
  return std::any_of(host.processes.begin(), host.processes.end(), [&](const std::string& name) {
    return world_.process(name)
               ->figure(actor_kind::memory, std::nullopt, "unpersisted")
               .value_or(0) != 0;
  });
}

bool random_run::may_miss_since(const host_state& host, moment begun) const {
  return is_tight_ || host.last_faulty_step >= begun || !host.faulty.empty();
}

// Reports an error that has no reason.
void random_run::check_error(const host_state& host, moment begun, const error& why) {
  const bool disk_fails = !host.faulty.empty() || host.last_faulty_step >= begun;
  if (why.category() == error_category::storage && disk_fails) return;
  if (why.code() == errc::closed && host.last_end >= begun) return;
  violate("an error without a reason: " + why.to_string());
}

void random_run::insert(worker_state& worker, std::size_t k) {
  const auto bytes = new_value(k);
  const auto write = history_of(worker, k).begin(now(), bytes, false);
  const auto fleet = begin_fleet_write(worker, k, bytes, false);
  const auto begun = begin_question(worker);
  ask<insert_outcome>(
      worker, owner_of(worker, k),
      [=, this, &worker](const expected<insert_outcome>& outcome) {
        if (outcome) end_fleet_write(k, fleet);
        end_insert(worker, k, write, begun, outcome);
      },
      verb::insert_v, keys_[k].key, artifact::make(bytes));
}

void random_run::end_insert(const worker_state& worker, std::size_t k, std::size_t write,
                            moment begun, const expected<insert_outcome>& outcome) {
  auto& host = hosts_.at(worker.host);
  if (!outcome) return check_error(host, begun, outcome.error());
  if (*outcome == insert_outcome::exists) return history_of(worker, k).lend(write, now());
  history_of(worker, k).succeed(write, now());
  if (keys_[k].is_mutable || is_tight_) return;
  if (++host.inserted[k] > 1)
    violate(text_of(keys_[k].key) + " was inserted twice on " + host.name);
}

void random_run::put(worker_state& worker, std::size_t k) {
  const auto bytes = new_value(k);
  const auto write = history_of(worker, k).begin(now(), bytes, false);
  const auto fleet = begin_fleet_write(worker, k, bytes, true);
  const auto begun = begin_question(worker);
  ask<done>(
      worker, owner_of(worker, k),
      [=, this, &worker](const expected<done>& result) {
        if (!result) return check_error(hosts_.at(worker.host), begun, result.error());
        end_fleet_write(k, fleet);
        history_of(worker, k).succeed(write, now());
      },
      verb::put_v, keys_[k].key, artifact::make(bytes));
}

void random_run::erase(worker_state& worker, std::size_t k) {
  const auto write = history_of(worker, k).begin(now(), {}, true);
  const auto fleet = begin_fleet_write(worker, k, {}, true);
  const auto begun = begin_question(worker);
  ask<bool>(
      worker, owner_of(worker, k),
      [=, this, &worker](const expected<bool>& result) {
        if (!result) return check_error(hosts_.at(worker.host), begun, result.error());
        end_fleet_write(k, fleet);
        history_of(worker, k).succeed(write, now());
      },
      verb::erase_v, keys_[k].key);
}

} // namespace hearth::simulation
