#include "runtime/simulation/simulator/run.hpp"

#include "actors/memory_shard.hpp"
#include "runtime/simulation/text.hpp"
#include "storage/memory/graveyard.hpp"
#include "storage/remote/purge_log.hpp"

#include <algorithm>

namespace hearth::simulation {
namespace {

constexpr std::uint64_t steps_between_checks = 32;
constexpr std::chrono::seconds patience{120}; // for every answer, after the faults ended
constexpr std::size_t max_waiting_a_client = 64;
// Of what the fleet has not heard of: the order of the host's changes, 32 KiB, and journals.
constexpr std::uint64_t journal_bytes = std::uint64_t{64} << 10;
constexpr std::uint64_t lease_file_bytes = std::uint64_t{32} << 10; // the beats of lease holders

} // namespace

void random_run::check_bounds() {
  next_check_ = now() + steps_between_checks;
  for (const auto& [name, process] : world_.processes()) {
    std::uint64_t used = 0; // a process that does not run uses none
    for (const auto& view : process->views())
      used += view->index().stats().bytes_used;
    if (used > process->options().memory_bytes)
      violate(name + " uses " + std::to_string(used) + " bytes of memory, above its budget");
  }
  for (const auto& [name, host] : hosts_) {
    const auto& options = world_.process(host.processes.front())->options();
    const auto slack = options.segment_bytes * options.disk_shards + lease_file_bytes +
                       (has_remote_ ? journal_bytes : 0);
    const auto used = world_.disk_of(name).used_bytes();
    if (used > options.disk_bytes + slack)
      violate(name + " uses " + std::to_string(used) + " bytes of disk, above its budget");
  }
  check_mailboxes();
  if (has_remote_) check_remote();
  if (const auto& question = world_.system().answered_twice(); !question.empty())
    violate("a question was answered twice: " + question);
}

// The log of purges of each server is read by itself. A process sends its shards all purges of one
// read at once, at most `max_read_purges`.
void random_run::check_mailboxes() {
  const auto& processes = world_.processes();
  std::uint64_t purging = 0;
  for (const auto& [name, process] : processes)
    purging += process->figure(actor_kind::remote, std::nullopt, "purging").value_or(0);
  const auto most = tiers() * processes.size() * storage::max_read_purges;
  const auto bound =
      tiers() * max_waiting_a_client * workers_.size() + std::min<std::uint64_t>(purging, most);
  if (world_.system().waiting_messages() > bound) violate("the mailboxes grow without bound");
}

void random_run::end_faults() {
  world_.system().note("faults end");
  next_fault_ = virtual_time::max();
  resume_all();
  if (has_remote_) end_trouble();
  for (auto& [name, host] : hosts_)
    for (const auto& process : host.processes) {
      auto& one = *world_.process(process);
      if (!one.is_running()) revive(host, one);
      heal(host, one);
    }
}

bool random_run::step(virtual_time end) {
  auto& system = world_.system();
  if (now() >= max_steps) violate("the run takes too many steps");
  if (!result_.violation.empty()) return false;
  if (system.deliver_one()) return true;
  const auto next = system.next_event();
  if (!next || *next > end) return false;
  system.advance_to(*next);
  return true;
}

// Delivers messages until every request is answered and every lease has ended but those of clients
// that hang.
void random_run::answer_all() {
  const auto end = world_.system().now() + patience;
  const auto is_busy = [](const worker_state& w) { return w.waits || (w.lease != 0 && !w.hangs); };
  while (result_.violation.empty() && std::any_of(workers_.begin(), workers_.end(), is_busy)) {
    for (auto& worker : workers_)
      if (!worker.waits && worker.lease != 0 && !worker.hangs) end_lease(worker);
    if (!step(end)) break;
  }
  for (const auto& worker : workers_)
    if (result_.violation.empty() && worker.waits) violate(worker.name + " was never answered");
}

// Clients that hung end their leases: what they store is late.
void random_run::let_clients_go_on() {
  has_hanging_clients_ = false;
  for (auto& worker : workers_)
    worker.hangs = false;
  answer_all();
}

// Runs until the disks have stored what memory took while they failed.
void random_run::store_all() {
  const auto end = world_.system().now() + patience;
  const auto is_behind = [this](const auto& host) { return has_unpersisted(host.second); };
  while (std::any_of(hosts_.begin(), hosts_.end(), is_behind)) {
    if (!step(end)) return violate("a disk that works again was not given everything");
  }
}

// Every client reads every key once more.
void random_run::check_at_rest() {
  end_sessions();
  end_recordings();
  for (auto& worker : workers_)
    for (std::size_t k = 0; k < keys_.size() && result_.violation.empty(); ++k) {
      get(worker, k);
      answer_all();
    }
  auto& last = workers_.back();
  for (std::size_t k = 0; k < guarded_keys_.size() && result_.violation.empty(); ++k) {
    best_tuning(last, k);
    answer_all();
    for (std::int64_t m = 1; m <= max_m && result_.violation.empty(); ++m) {
      find_variant(last, k, m);
      answer_all();
    }
  }
  deliver_all();
  if (has_remote_) let_remote_recover();
  if (has_remote_ && result_.violation.empty()) {
    check_fleet();
    let_remote_recover();
  }
  if (!has_remote_ && result_.violation.empty()) check_trees();
  if (!has_remote_ && result_.violation.empty()) check_bundles();
  if (!has_remote_ && result_.violation.empty()) check_kernels();
  // A shard that polls for a lease notices at its next poll that no caller wants it any more.
  const auto end = world_.system().now() + actors::memory_shard_config{}.longest_fleet_poll;
  while (step(end)) {
  }
  let_work_end();
  check_bounds();
}

// A tuning and an action go on when the client that asked for them has died, and may wait for a
// lease of a process that was killed.
void random_run::let_work_end() {
  const auto is_at_work = [&] {
    return std::any_of(world_.processes().begin(), world_.processes().end(), [](const auto& one) {
      const auto figure = [&](actor_kind kind, const char* of) {
        return one.second->figure(kind, std::nullopt, of).value_or(0);
      };
      return figure(actor_kind::tuner, "active") != 0 || figure(actor_kind::memory, "leases") != 0;
    });
  };
  const auto end = world_.system().now() + patience;
  while (is_at_work() && step(end)) {
  }
  deliver_all();
}

void random_run::deliver_all() {
  const auto end = world_.system().now();
  while (step(end)) {
  }
}

void random_run::check_end() {
  for (const auto& [name, process] : world_.processes())
    check_idle(*process);
  for (auto& [name, host] : hosts_) {
    for (const auto& process : host.processes) {
      auto& one = *world_.process(process);
      check_store(host, one);
      if (!world_.stop(one)) violate(process + " did not shut down in time");
    }
    for (auto& worker : workers_)
      world_.kill(*worker.self);
    if (world_.disk_of(name).open_descriptions() != 0)
      violate(name + " has files that were never closed");
  }
  const std::size_t servers = // each is an actor
      is_cluster_   ? world_.cluster(shared_server).actors()
      : has_remote_ ? tiers()
                    : 0;
  if (world_.system().living_actors() != servers) violate("actors are left");
  if (storage::buried_nodes() != 0) violate("entries are left that nobody holds");
}

// Checks that no work of the process is left.
void random_run::check_idle(const simulated_process& process) {
  const auto expect_none = [&](actor_kind kind, std::string_view figure) {
    const auto left = process.figure(kind, std::nullopt, figure).value_or(0);
    if (left != 0)
      violate(process.name() + " still has " + std::to_string(left) + " of " +
              std::string(to_string(kind)) + " " + std::string(figure));
  };
  for (const auto* figure : {"leases", "leases_held", "loading", "mailbox"})
    expect_none(actor_kind::memory, figure);
  for (const auto* figure : {"pending", "mailbox"})
    expect_none(actor_kind::disk, figure);
  expect_none(actor_kind::broker, "queued");
  for (const auto* figure : {"active", "waiting"})
    expect_none(actor_kind::tuner, figure);
  for (const auto* figure : {"waiting", "in_flight", "open_commands", "leases_held", "unheard"})
    expect_none(actor_kind::remote, figure);
}

// Repairs the store first after a torn write: a torn record stays, unread, until it is evicted or
// repaired.
void random_run::check_store(host_state& host, const simulated_process& process) {
  if (std::exchange(host.was_torn, false)) (void)process.store()->verify(true);
  const auto checked = process.store()->verify(false);
  if (!checked)
    violate(process.name() + " cannot check its store: " + checked.error().to_string());
  else if (!checked->intact())
    violate(process.name() + " has a store that is not intact: " + checked->findings.at(0));
}

} // namespace hearth::simulation
