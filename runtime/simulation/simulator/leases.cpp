#include "runtime/simulation/simulator/run.hpp"

#include "actors/memory_shard.hpp"
#include "runtime/simulation/text.hpp"

#include <algorithm>

namespace hearth::simulation {
namespace {

// How long a holder has at least shown no sign of life when it is passed over: the silence may have
// begun with the holder before, whose first beat was not due yet.
const auto time_to_pass_over =
    actors::memory_shard_config{}.lease_silence - actors::memory_shard_config{}.lease_beat;

} // namespace

void random_run::acquire(worker_state& worker, std::size_t k) {
  const auto begun = begin_question(worker);
  hosts_.at(worker.host).first_acquires.try_emplace({worker.process, k}, world_.system().now());
  ask<lease_reply>(
      worker, owner_of(worker, k),
      [=, this, &worker](const expected<lease_reply>& reply) {
        if (!reply) {
          // Either the holder's error, or a failure.
          if (reply.error().code() != errc::compile_failed)
            check_error(hosts_.at(worker.host), begun, reply.error());
          return;
        }
        if (reply->found.hit()) return judge(worker, k, begun, reply->found, reply->waited);
        take_lease(worker, k, reply->lease.take());
      },
      verb::acquire_v, keys_[k].key);
}

// Whether this client of the host may get the lease while another has it. A process that was
// stopped, or whose disk failed, may have shown no sign of life; behind a client that never ends,
// the patience of a process ends, which began when a client of it first waited. And a process that
// was passed over, while it was stopped or its disk did not take its signs of life, goes on with
// the lease that it held, also later: the fleet may have let it wait meanwhile.
bool random_run::may_take_held(const worker_state& worker, std::size_t k, const lease_hold& held) {
  const auto& host = hosts_.at(worker.host);
  const auto time = world_.system().now();
  const bool was_silent =
      time - held.since >= time_to_pass_over &&
      (host.last_pause >= held.since || !host.faulty.empty() || host.last_faulty_step >= held.step);
  const bool is_impatient =
      has_hung_ && time - host.first_acquires.at({worker.process, k}) >= patience_of_processes;
  return was_silent || is_impatient || was_stopped_before(worker, held) ||
         had_no_disk_before(worker, k, held);
}

// Whether the process of this client was stopped for so long before `held` began that it may have
// been passed over.
bool random_run::was_stopped_before(const worker_state& worker, const lease_hold& held) const {
  const auto& pauses = hosts_.at(worker.host).pauses;
  const auto last = pauses.find(worker.process);
  if (last == pauses.end()) return false;
  const auto [from, until] = last->second;
  return std::min(held.since, until) - from >= time_to_pass_over &&
         (held.since <= until || has_remote_);
}

// The same of one whose disk has failed since a client of it first asked for this entry.
bool random_run::had_no_disk_before(const worker_state& worker, std::size_t k,
                                    const lease_hold& held) const {
  const auto& host = hosts_.at(worker.host);
  const auto first = host.first_acquires.at({worker.process, k});
  const auto last = host.last_faults.find(worker.process);
  const bool has_failed = host.faulty.contains(worker.process) ||
                          (last != host.last_faults.end() && last->second >= first);
  return has_failed && held.since - first >= time_to_pass_over;
}

void random_run::take_lease(worker_state& worker, std::size_t k, lease_id id) {
  auto& host = hosts_.at(worker.host);
  auto& holders = host.lease_holders[k];
  lease_hold mine{worker.name, world_.system().now(), now()};
  for (const auto& one : holders) {
    if (!may_take_held(worker, k, one))
      violate(worker.name + " got the lease of " + text_of(keys_[k].key) + ", which " + one.client +
              " holds");
    // The first holder was passed over. When it ends, its place is free, and a third process may
    // take that while the second one compiles.
    mine.since = std::min(mine.since, one.since);
    mine.step = std::min(mine.step, one.step);
  }
  holders.push_back(mine);
  worker.lease = id;
  worker.leased_key = k;
  if (!has_hanging_clients_ || !random_.one_in(40)) return;
  world_.system().note(worker.name + " never ends its lease");
  worker.hangs = true;
  worker.wake = virtual_time::max();
  has_hung_ = true;
}

void random_run::drop_lease(worker_state& worker) {
  if (worker.lease != 0)
    std::erase_if(hosts_.at(worker.host).lease_holders[worker.leased_key],
                  [&](const lease_hold& one) { return one.client == worker.name; });
  worker.lease = 0;
  worker.hangs = false;
}

void random_run::end_lease(worker_state& worker) {
  const auto k = worker.leased_key;
  const auto id = worker.lease;
  const auto owner = owner_of(worker, k);
  auto choice = random_.below(8);
  if (choice == 7 && worker.is_thread) choice = 5;
  drop_lease(worker);
  if (choice < 5) {
    const auto bytes = new_value(k);
    const auto write = history_of(worker, k).begin(now(), bytes, false);
    const auto fleet = begin_fleet_write(worker, k, bytes, false);
    const auto begun = begin_question(worker);
    ask<insert_outcome>(
        worker, owner,
        [=, this, &worker](const expected<insert_outcome>& outcome) {
          if (outcome) end_fleet_write(k, fleet);
          end_insert(worker, k, write, begun, outcome);
        },
        verb::fulfil_v, id, artifact::make(bytes));
    return;
  }
  auto& sender = worker.self->sender();
  if (choice == 5)
    sender.send(owner, verb::release_v, id);
  else if (choice == 6)
    sender.send(owner, verb::abandon_v, id, error{errc::compile_failed, "x.cpp:1: error"});
  else
    return die(worker);
  rest(worker);
}

} // namespace hearth::simulation
