#include "runtime/simulation/simulator/run.hpp"

#include <array>
#include <cerrno>

namespace hearth::simulation {
namespace {

using std::chrono::milliseconds;

} // namespace

void random_run::plan_fault() {
  next_fault_ = world_.system().now() + milliseconds(random_.between(200, 6000));
}

void random_run::die(worker_state& worker) {
  if (worker.is_thread) return;
  drop_lease(worker);
  ++worker.life;
  hosts_.at(worker.host).last_end = now() + 1;
  world_.system().note(worker.name + " dies");
  world_.kill(*worker.self);
  if (world_.process(worker.process)->is_running())
    world_.revive_clients(*world_.process(worker.process));
  worker.recording.reset(); // the recorder keeps it: nobody ends it any more
  abandon_session(worker);
}

void random_run::workers_die(const std::string& process) {
  for (auto& [name, host] : hosts_) {
    if (host.sources.contains(process)) host.sources[process] = host.files->for_process();
    for (auto& [k, past] : host.guarded)
      past.end_process(process);
    leave_places(host, process);
  }
  for (auto& [place, past] : trees_)
    past.end_process(process);
  for (auto& [place, past] : bundled_)
    past.end_process(process);
  for (auto& [graph, past] : kernels_)
    past.end_process(process);
  kernel_tables_.erase(process);
  purges_die(process);
  for (auto& worker : workers_) {
    if (worker.process != process) continue;
    hosts_.at(worker.host).last_end = now() + 1;
    drop_lease(worker);
    ++worker.life;
    worker.session = 0;
    worker.noted.clear();
    worker.recording.reset();
    rest(worker);
  }
}

host_state& random_run::any_host() {
  auto at = hosts_.begin();
  std::advance(at, static_cast<std::ptrdiff_t>(random_.below(hosts_.size())));
  return at->second;
}

void random_run::inject_fault() {
  if (has_remote_ && random_.one_in(3)) return trouble_remote();
  auto& host = any_host();
  auto& process = *world_.process(host.processes[random_.below(host.processes.size())]);
  const auto choice = random_.below(20);
  if (!process.is_running()) return revive(host, process);
  if (choice < 4) return kill(host, process);
  if (choice < 8) return stall(process);
  if (choice < 12) return damage_disk(host, process);
  if (choice < 14) return restart(host, process);
  if (choice < 16) return flush(host, process);
  if (choice < 17) return lose_power(host);
  if (choice < 18) return pause(host, process);
  die(workers_[random_.below(workers_.size())]);
}

void random_run::revive(host_state& host, simulated_process& process) {
  world_.system().note(process.name() + " starts");
  world_.start(process);
  world_.revive_clients(process);
  if (!process.store()) violate(process.name() + " cannot open its store");
  heal(host, process);
}

void random_run::kill(host_state& host, simulated_process& process) {
  workers_die(process.name());
  world_.kill(process);
  heal(host, process);
  if (random_.one_in(2)) revive(host, process);
}

void random_run::restart(host_state& host, simulated_process& process) {
  if (host.last_pause > world_.system().now()) return; // a stopped process does not shut down
  heal(host, process);
  host.last_end = ~std::uint64_t{0}; // until it has stopped
  if (!world_.stop(process)) violate(process.name() + " did not shut down in time");
  workers_die(process.name());
  for (auto& worker : workers_)
    if (worker.process == process.name()) world_.kill(*worker.self);
  revive(host, process);
}

void random_run::stall(const simulated_process& process) {
  const auto kind = random_.one_in(3) ? actor_kind::memory : actor_kind::disk;
  const auto& some = process.actors_of(kind);
  const auto until = world_.system().now() + milliseconds(random_.between(1, 900));
  world_.system().note(process.name() + " is slow");
  world_.system().stall(some[random_.below(some.size())], until);
}

// Stops a process for a while, as SIGSTOP does.
void random_run::pause(host_state& host, const simulated_process& process) {
  const auto until = world_.system().now() + milliseconds(random_.between(100, 12'000));
  world_.system().note(process.name() + " is stopped");
  for (const auto& one : process.all_actors())
    world_.system().stall(one, until);
  for (auto& worker : workers_)
    if (worker.process == process.name()) worker.wake = std::max(worker.wake, until);
  host.last_pause = std::max(host.last_pause, until);
  host.pauses.insert_or_assign(process.name(), std::pair(world_.system().now(), until));
  // Its leases of the fleet end meanwhile, and it does not notice.
  if (has_remote_) doubt_leases_until(until + lease_time);
}

void random_run::resume_all() {
  for (const auto& [name, process] : world_.processes())
    for (const auto& one : process->all_actors())
      world_.system().stall(one, world_.system().now());
}

void random_run::damage_disk(host_state& host, simulated_process& process) {
  if (host.faulty.contains(process.name())) return heal(host, process);
  const std::array<disk_call, 6> calls{disk_call::write, disk_call::allocate, disk_call::open,
                                       disk_call::read,  disk_call::map,      disk_call::rename};
  const std::array<int, 3> errors{ENOSPC, EIO, EMFILE};
  const auto call = calls[random_.below(calls.size())];
  if (random_.one_in(4)) {
    process.files().limit_writes(random_.between(1, 100));
    return;
  }
  process.files().fail(call, {errors[random_.below(errors.size())], random_.below(3)});
  world_.system().note(process.name() + " has a disk that fails to " +
                       std::string(to_string(call)));
  host.faulty.insert(process.name());
  host.had_faults = true;
  host.was_torn = true;
}

void random_run::heal(host_state& host, simulated_process& process) {
  if (process.is_running()) process.files().heal();
  if (host.faulty.erase(process.name()) == 0) return;
  host.last_faulty_step = now() + 1;
  host.last_faults[process.name()] = world_.system().now();
}

void random_run::flush(host_state& host, simulated_process& process) {
  if (process.store()->flush() && host.faulty.empty()) flushed_[host.name] = now();
}

void random_run::lose_power(host_state& host) {
  for (const auto& name : host.processes) {
    workers_die(name);
    host.faulty.erase(name);
  }
  world_.lose_power(host.name, random_);
  host.files->reboot();
  const auto durable = flushed_[host.name];
  for (auto& [k, past] : host.histories)
    past.lose_after(durable);
  for (auto& [k, past] : host.guarded)
    past.lose_after(durable);
  for (auto& [k, past] : host.tunings)
    past.lose_after(durable);
  for (auto& [place, past] : trees_)
    past.lose_after(host.name, durable);
  for (auto& [place, past] : bundled_)
    past.lose_after(host.name, durable);
  for (auto& [graph, past] : kernels_)
    past.lose_after(host.name, durable);
  purges_lose_power(host.name, durable);
  host.inserted.clear();
  host.was_torn = true;
  host.last_faulty_step = now() + 1;
  for (const auto& name : host.processes)
    revive(host, *world_.process(name));
}

} // namespace hearth::simulation
