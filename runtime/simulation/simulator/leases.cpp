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
  const auto asked = world_.system().now();
  hosts_.at(worker.host).first_acquires.try_emplace({worker.process, k}, asked);
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
        take_lease(worker, k, reply->lease.take(), asked);
      },
      verb::acquire_v, keys_[k].key);
}

// Whether this client of the host may get the lease while another has it. A process that was
// stopped, or whose disk failed, may have shown no sign of life; behind a client that never ends,
// the patience of a process ends, which began when a client of it first waited. It ends, too, where
// a host cannot reach the server to end its lease of the fleet. And a process that was passed over
// goes on with the lease that it held. If the fleet let both wait, either may get the lease first.
bool random_run::may_take_held(const worker_state& worker, std::size_t k, const lease_hold& mine,
                               const lease_hold& held) {
  const auto& host = hosts_.at(worker.host);
  const auto time = world_.system().now();
  const bool was_silent =
      time - held.since >= time_to_pass_over &&
      (host.last_pause >= held.since || !host.faulty.empty() || host.last_faulty_step >= held.step);
  const bool is_impatient =
      (has_hung_ && time - host.first_acquires.at({worker.process, k}) >= patience_of_processes) ||
      (has_remote_ && (mine.was_long_awaited || held.was_long_awaited));
  return was_silent || is_impatient || was_passed_over(host, worker.process, k, held.since) ||
         (has_remote_ && was_passed_over(host, held.process, k, time)) ||
         has_left_its_place(host, k, held);
}

// Notes for which keys a process that ends may have been passed over.
void random_run::leave_places(host_state& host, const std::string& process) {
  const auto time = world_.system().now();
  const auto pause = host.pauses.find(process);
  std::erase_if(host.first_acquires, [&](const auto& asked) {
    const auto& [place, first] = asked;
    if (place.first != process) return false;
    if (pause != host.pauses.end()) {
      const auto [from, end] = pause->second;
      host.left_places[place.second].push_back({std::max(from, first), std::min(end, time)});
    }
    return true;
  });
}

// Whether a process that held the lease of its host was stopped, passed over by the one that holds
// this lease, and ended: its place is free then, and without the fleet that is enough. The one that
// passed it over may have got the lease much later, since it has asked the fleet first.
bool random_run::has_left_its_place(const host_state& host, std::size_t k,
                                    const lease_hold& held) const {
  const auto left = host.left_places.find(k);
  const auto first = host.first_acquires.find({held.process, k});
  if (!has_remote_ || left == host.left_places.end() || first == host.first_acquires.end())
    return false;
  return std::any_of(left->second.begin(), left->second.end(), [&](const left_place& one) {
    return std::min(held.since, one.silent_until) - std::max(one.silent_from, first->second) >=
           time_to_pass_over;
  });
}

// Whether a process that held the lease of its host may have been passed over by another one until
// this time: it was stopped, or its disk failed, for so long since a client of it first asked.
bool random_run::was_passed_over(const host_state& host, const std::string& process, std::size_t k,
                                 virtual_time until) const {
  const auto first = host.first_acquires.at({process, k});
  const auto fault = host.last_faults.find(process);
  const bool had_no_disk =
      host.faulty.contains(process) || (fault != host.last_faults.end() && fault->second >= first);
  if (had_no_disk && until - first >= time_to_pass_over) return true;
  const auto pause = host.pauses.find(process);
  if (pause == host.pauses.end()) return false;
  const auto [from, end] = pause->second;
  return std::min(until, end) - std::max(from, first) >= time_to_pass_over &&
         (until <= end || has_remote_);
}

void random_run::take_lease(worker_state& worker, std::size_t k, lease_id id, virtual_time asked) {
  auto& host = hosts_.at(worker.host);
  auto& holders = host.lease_holders[k];
  const auto time = world_.system().now();
  lease_hold mine{worker.name, worker.process, time, now(), time - asked >= patience_of_processes};
  for (const auto& one : holders) {
    if (!may_take_held(worker, k, mine, one))
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
