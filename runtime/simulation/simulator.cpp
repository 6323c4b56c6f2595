#include "runtime/simulation/simulator.hpp"

#include "messages/hash.hpp"
#include "runtime/simulation/history.hpp"
#include "runtime/simulation/text.hpp"
#include "runtime/simulation/world.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <map>
#include <set>
#include <utility>

namespace hearth::simulation {
namespace {

using std::chrono::milliseconds;

// Clients wake at multiples of it, so that they often ask at the same time.
constexpr milliseconds tick{100};
constexpr std::uint64_t steps_between_checks = 32;
constexpr std::chrono::seconds patience{120}; // after the faults ended, for every answer
constexpr std::uint64_t max_steps = 2'000'000;
constexpr std::size_t most_waiting_a_client = 64;

/// How a seed uses the keys. In a tight world entries are evicted, so that a miss is no violation.
struct key_state {
  cache_key key;
  bool is_mutable = false; ///< put and erased; others are only inserted
};

/// What one client is doing.
struct worker_state {
  std::string name, process, host;
  std::uint64_t life = 0; ///< moves when it dies: answers to a former life are nobody's
  bool waits = false;     ///< for an answer
  bool is_thread = false; ///< asked so last: threads die with their process alone
  virtual_time wake{};
  lease_id lease = 0;
  std::size_t leased_key = 0;
};

struct host_state {
  std::string name;
  std::vector<std::string> processes;
  std::map<std::size_t, history> histories;         // by key
  std::map<std::size_t, unsigned> inserted;         // acknowledgements, of keys never erased
  std::map<std::size_t, std::string> lease_holders; // by key: the client
  std::uint64_t last_faulty_step = 0;               // the disk failed, or may have, until then
  std::set<std::string> faulty;                     // processes whose disk fails
  bool was_torn = false; // a disk failed in the middle of something, or power was lost
};

class simulator {
public:
  simulator(std::uint64_t seed, const simulation_options& options)
      : options_(options)
      , random_(seed) {
    world_.system().set_trace([this](std::string line) {
      result_.trace_hash = fast_hash(line, result_.trace_hash);
      if (options_.keep_trace) result_.trace.push_back(std::move(line));
    });
    world_.system().choose_by(&random_);
  }

  simulator(const simulator&) = delete;
  simulator& operator=(const simulator&) = delete;
  ~simulator() {
    for (auto& worker : workers_)
      ++worker.life; // nobody is told what comes now
  }

  simulation_result run() {
    set_up();
    work_until(options_.duration);
    end_faults();
    answer_all();
    if (result_.violation.empty()) check_at_rest();
    if (result_.violation.empty()) check_end();
    result_.messages = world_.system().steps();
    return std::move(result_);
  }

private:
  using moment = history::moment;
  moment now() { return world_.system().steps(); }

  void violate(std::string text) {
    if (!result_.violation.empty()) return;
    result_.violation = text_of(world_.system().now()) + ": " + std::move(text);
    world_.system().note("VIOLATION " + result_.violation);
  }

  // --- the world -------------------------------------------------------------------------------

  void set_up() {
    is_tight_ = random_.one_in(4);
    process_options process;
    process.memory_shards = static_cast<unsigned>(random_.between(1, 2));
    process.disk_shards = static_cast<unsigned>(random_.between(1, 2));
    process.memory_bytes = is_tight_ ? 128u << 10 : 4u << 20;
    process.disk_bytes = is_tight_ ? 1u << 20 : 64u << 20;
    process.segment_bytes = 64u << 10;
    max_value_bytes_ = is_tight_ ? 40'000 : random_.one_in(4) ? 20'000 : 200;
    make_keys();
    for (unsigned h = 0; h < options_.hosts; ++h)
      set_up_host("h" + std::to_string(h), process);
    plan_fault();
  }

  void make_keys() {
    const std::array<std::string, 2> caches{"fxgraph", "tunes"};
    const auto count = random_.between(3, 12);
    for (std::uint64_t i = 0; i < count; ++i) {
      const auto cache = world_.cache(caches[random_.below(2)], random_.one_in(4) ? "2" : "0");
      keys_.push_back({cache_key(*cache, key("k" + std::to_string(i)).encoded()), i % 2 == 0});
    }
  }

  void set_up_host(const std::string& name, const process_options& process) {
    world_.add_host(name);
    auto& host = hosts_[name];
    host.name = name;
    for (unsigned p = 0; p < options_.processes; ++p) {
      const auto at = name + "p" + std::to_string(p);
      world_.add_process(at, name, process);
      host.processes.push_back(at);
      for (unsigned c = 0; c < options_.clients; ++c) {
        const auto client = at + "c" + std::to_string(c);
        world_.add_client(client, at);
        workers_.push_back({client, at, name});
      }
    }
  }

  // --- time and steps ----------------------------------------------------------------------------

  void work_until(virtual_time end) {
    auto& system = world_.system();
    while (result_.violation.empty() && system.now() < end && now() < max_steps) {
      if (now() % steps_between_checks == 0) check_bounds();
      if (system.now() >= next_fault_) {
        inject_fault();
        plan_fault();
      }
      if (random_.one_in(3) && wake_somebody()) continue;
      if (system.deliver_one() || wake_somebody()) continue;
      pass_time(end);
    }
  }

  void pass_time(virtual_time end) {
    auto next = std::min(end, next_fault_);
    for (const auto& worker : workers_)
      if (!worker.waits && world_.find_client(worker.name)->is_alive())
        next = std::min(next, worker.wake);
    if (const auto event = world_.system().next_event()) next = std::min(next, *event);
    world_.system().advance_to(std::max(next, world_.system().now() + virtual_time(1)));
  }

  bool wake_somebody() {
    std::vector<worker_state*> ready;
    for (auto& worker : workers_)
      if (!worker.waits && worker.wake <= world_.system().now() &&
          world_.find_client(worker.name)->is_alive())
        ready.push_back(&worker);
    if (ready.empty()) return false;
    act(*ready[random_.below(ready.size())]);
    return true;
  }

  void rest(worker_state& worker) {
    worker.waits = false;
    worker.wake = world_.system().now() / tick * tick + tick * random_.below(6);
  }

  // --- what clients do -------------------------------------------------------------------------

  // Sends a question in one of its two forms, and hands its answer to `next` if the client lives.
  template <class T, class Handle, class... Parts>
  void ask(worker_state& worker, const Handle& to, std::function<void(expected<T>)> next,
           const Parts&... parts) {
    ++result_.questions;
    worker.waits = true;
    worker.is_thread = random_.one_in(2);
    const auto taken = [this, &worker, life = worker.life, next](expected<T> result) {
      if (worker.life != life) return;
      rest(worker);
      next(std::move(result));
    };
    auto& sender = world_.find_client(worker.name)->sender();
    if (!worker.is_thread) {
      sender.request(to, caf::infinite, parts...)
          .then([taken](const T& result) { taken(result); },
                [taken](const caf::error& why) { taken(fail(from_caf(why))); });
    } else {
      auto state = std::make_shared<completion_state<T>>();
      state->then(taken);
      sender.send(to, parts..., completion<T>(std::move(state)));
    }
  }

  const memory_shard_actor& owner_of(const worker_state& worker, std::size_t k) {
    return world_.process(worker.process)->router().owner_of(keys_[k].key);
  }
  history& history_of(const worker_state& worker, std::size_t k) {
    return hosts_.at(worker.host).histories[k];
  }

  void act(worker_state& worker) {
    if (worker.lease != 0) return end_lease(worker);
    const auto k = random_.below(keys_.size());
    const auto choice = random_.below(10);
    if (choice < 4) return get(worker, k);
    if (choice < 6) return insert(worker, k);
    if (choice < 8) return acquire(worker, k);
    if (!keys_[k].is_mutable) return get(worker, k);
    return choice == 8 ? put(worker, k) : erase(worker, k);
  }

  // Bytes that say who wrote them, and that no other write has.
  std::string new_value(std::size_t k) {
    auto bytes = "k" + std::to_string(k) + "w" + std::to_string(++writes_) + ".";
    const auto size = random_.below(max_value_bytes_);
    for (std::uint64_t i = bytes.size(); i < size; ++i)
      bytes += static_cast<char>('a' + (i * writes_) % 26);
    return bytes;
  }

  void get(worker_state& worker, std::size_t k) {
    const auto begun = now();
    ask<lookup>(
        worker, owner_of(worker, k),
        [=, this, &worker](const expected<lookup>& found) { judge(worker, k, begun, found); },
        verb::get_v, keys_[k].key);
  }

  void judge(const worker_state& worker, std::size_t k, moment begun,
             const expected<lookup>& found) {
    const auto& host = hosts_.at(worker.host);
    if (!found) return check_error(host, begun, found.error());
    const auto& past = history_of(worker, k);
    const bool may_miss = is_tight_ || host.last_faulty_step >= begun || !host.faulty.empty();
    std::string wrong;
    if (found->hit())
      wrong = past.judge_hit(found->value.payload(), begun, now());
    else if (!may_miss)
      wrong = past.judge_miss(begun, now());
    if (!wrong.empty()) violate(worker.name + " got of " + text_of(keys_[k].key) + " " + wrong);
  }

  // Errors have to have a reason.
  void check_error(const host_state& host, moment begun, const error& why) {
    const bool disk_fails = !host.faulty.empty() || host.last_faulty_step >= begun;
    if (why.category() == error_category::storage && disk_fails) return;
    if (why.code() == errc::closed || why.code() == errc::timeout) return;
    violate("an error without a reason: " + why.to_string());
  }

  void insert(worker_state& worker, std::size_t k) {
    const auto bytes = new_value(k);
    const auto write = history_of(worker, k).begin(now(), bytes, false);
    const auto begun = now();
    ask<insert_outcome>(
        worker, owner_of(worker, k),
        [=, this, &worker](const expected<insert_outcome>& outcome) {
          end_insert(worker, k, write, begun, outcome);
        },
        verb::insert_v, keys_[k].key, artifact::make(bytes));
  }

  void end_insert(const worker_state& worker, std::size_t k, std::size_t write, moment begun,
                  const expected<insert_outcome>& outcome) {
    auto& host = hosts_.at(worker.host);
    if (!outcome) return check_error(host, begun, outcome.error());
    if (*outcome == insert_outcome::exists) return history_of(worker, k).withdraw(write);
    history_of(worker, k).succeed(write, now());
    if (keys_[k].is_mutable || is_tight_) return;
    if (++host.inserted[k] > 1)
      violate(text_of(keys_[k].key) + " was inserted twice on " + host.name);
  }

  void put(worker_state& worker, std::size_t k) {
    const auto bytes = new_value(k);
    const auto write = history_of(worker, k).begin(now(), bytes, false);
    const auto begun = now();
    ask<done>(
        worker, owner_of(worker, k),
        [=, this, &worker](const expected<done>& result) {
          if (!result) return check_error(hosts_.at(worker.host), begun, result.error());
          history_of(worker, k).succeed(write, now());
        },
        verb::put_v, keys_[k].key, artifact::make(bytes));
  }

  void erase(worker_state& worker, std::size_t k) {
    const auto write = history_of(worker, k).begin(now(), {}, true);
    const auto begun = now();
    ask<bool>(
        worker, owner_of(worker, k),
        [=, this, &worker](const expected<bool>& result) {
          if (!result) return check_error(hosts_.at(worker.host), begun, result.error());
          history_of(worker, k).succeed(write, now());
        },
        verb::erase_v, keys_[k].key);
  }

  // --- leases ----------------------------------------------------------------------------------

  void acquire(worker_state& worker, std::size_t k) {
    const auto begun = now();
    ask<lease_reply>(
        worker, owner_of(worker, k),
        [=, this, &worker](const expected<lease_reply>& reply) {
          if (!reply) {
            // What the holder said, or what went wrong.
            if (reply.error().code() != errc::compile_failed)
              check_error(hosts_.at(worker.host), begun, reply.error());
            return;
          }
          if (reply->found.hit()) return judge(worker, k, begun, reply->found);
          take_lease(worker, k, reply->lease);
        },
        verb::acquire_v, keys_[k].key);
  }

  void take_lease(worker_state& worker, std::size_t k, lease_id id) {
    auto& holders = hosts_.at(worker.host).lease_holders;
    const auto [at, is_free] = holders.try_emplace(k, worker.name);
    if (!is_free)
      violate(worker.name + " got the lease of " + text_of(keys_[k].key) + ", which " + at->second +
              " holds");
    worker.lease = id;
    worker.leased_key = k;
  }

  void drop_lease(worker_state& worker) {
    if (worker.lease != 0) hosts_.at(worker.host).lease_holders.erase(worker.leased_key);
    worker.lease = 0;
  }

  void end_lease(worker_state& worker) {
    const auto k = worker.leased_key;
    const auto id = worker.lease;
    const auto owner = owner_of(worker, k);
    auto choice = random_.below(8);
    if (choice == 7 && worker.is_thread) choice = 5;
    drop_lease(worker);
    if (choice < 5) {
      const auto bytes = new_value(k);
      const auto write = history_of(worker, k).begin(now(), bytes, false);
      const auto begun = now();
      ask<insert_outcome>(
          worker, owner,
          [=, this, &worker](const expected<insert_outcome>& outcome) {
            end_insert(worker, k, write, begun, outcome);
          },
          verb::fulfil_v, id, artifact::make(bytes));
      return;
    }
    auto& sender = world_.find_client(worker.name)->sender();
    if (choice == 5)
      sender.send(owner, verb::release_v, id);
    else if (choice == 6)
      sender.send(owner, verb::abandon_v, id, error{errc::compile_failed, "x.cpp:1: error"});
    else
      return die(worker);
    rest(worker);
  }

  // --- faults ----------------------------------------------------------------------------------

  void plan_fault() {
    next_fault_ = world_.system().now() + milliseconds(random_.between(200, 6000));
  }

  void die(worker_state& worker) {
    if (worker.is_thread) return;
    drop_lease(worker);
    ++worker.life;
    world_.system().note(worker.name + " dies");
    auto& one = *world_.find_client(worker.name);
    world_.kill(one);
    if (world_.process(worker.process)->is_running())
      world_.revive_clients(*world_.process(worker.process));
    rest(worker);
  }

  void workers_die(const std::string& process) {
    for (auto& worker : workers_) {
      if (worker.process != process) continue;
      drop_lease(worker);
      ++worker.life;
      rest(worker);
    }
  }

  host_state& any_host() {
    auto at = hosts_.begin();
    std::advance(at, static_cast<std::ptrdiff_t>(random_.below(hosts_.size())));
    return at->second;
  }

  void inject_fault() {
    auto& host = any_host();
    auto& process = *world_.process(host.processes[random_.below(host.processes.size())]);
    const auto choice = random_.below(20);
    if (!process.is_running()) return revive(host, process);
    if (choice < 4) return kill(host, process);
    if (choice < 8) return stall(process);
    if (choice < 12) return spoil_disk(host, process);
    if (choice < 14) return restart(host, process);
    if (choice < 16) return flush(host, process);
    if (choice < 17) return lose_power(host);
    die(workers_[random_.below(workers_.size())]);
  }

  void revive(host_state& host, simulated_process& process) {
    world_.system().note(process.name() + " starts");
    world_.start(process);
    world_.revive_clients(process);
    if (!process.store()) violate(process.name() + " cannot open its store");
    heal(host, process);
  }

  void kill(host_state& host, simulated_process& process) {
    workers_die(process.name());
    world_.kill(process);
    heal(host, process);
    if (random_.one_in(2)) revive(host, process);
  }

  void restart(host_state& host, simulated_process& process) {
    heal(host, process);
    if (!world_.stop(process)) violate(process.name() + " did not shut down in time");
    workers_die(process.name());
    for (auto& worker : workers_)
      if (worker.process == process.name()) world_.kill(*world_.find_client(worker.name));
    revive(host, process);
  }

  void stall(const simulated_process& process) {
    const auto kind = random_.one_in(3) ? actor_kind::memory : actor_kind::disk;
    const auto& some = process.actors_of(kind);
    const auto until = world_.system().now() + milliseconds(random_.between(1, 900));
    world_.system().note(process.name() + " is slow");
    world_.system().stall(some[random_.below(some.size())], until);
  }

  void spoil_disk(host_state& host, simulated_process& process) {
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
    host.was_torn = true;
  }

  void heal(host_state& host, simulated_process& process) {
    if (process.is_running()) process.files().heal();
    if (host.faulty.erase(process.name()) != 0) host.last_faulty_step = now() + 1;
  }

  void flush(host_state& host, simulated_process& process) {
    if (process.store()->flush() && host.faulty.empty()) flushed_[host.name] = now();
  }

  void lose_power(host_state& host) {
    for (const auto& name : host.processes) {
      workers_die(name);
      host.faulty.erase(name);
    }
    world_.lose_power(host.name, random_);
    for (auto& [k, past] : host.histories)
      past.lose_after(flushed_[host.name]);
    host.inserted.clear();
    host.was_torn = true;
    host.last_faulty_step = now() + 1;
    for (const auto& name : host.processes)
      revive(host, *world_.process(name));
  }

  // --- what must hold ----------------------------------------------------------------------------

  void check_bounds() {
    for (const auto& [name, process] : world_.processes()) {
      if (!process->is_running()) continue;
      const auto used = process->figure(actor_kind::memory, std::nullopt, "bytes_used").value_or(0);
      if (used > process->options().memory_bytes)
        violate(name + " uses " + std::to_string(used) + " bytes of memory, above its budget");
    }
    for (const auto& [name, host] : hosts_) {
      const auto& options = world_.process(host.processes.front())->options();
      const auto slack = options.segment_bytes * options.disk_shards;
      const auto used = world_.disk_of(name).used_bytes();
      if (used > options.disk_bytes + slack)
        violate(name + " uses " + std::to_string(used) + " bytes of disk, above its budget");
    }
    if (world_.system().waiting_messages() > most_waiting_a_client * workers_.size())
      violate("the mailboxes grow without bound");
  }

  void end_faults() {
    world_.system().note("faults end");
    next_fault_ = virtual_time::max();
    for (auto& [name, host] : hosts_)
      for (const auto& process : host.processes) {
        auto& one = *world_.process(process);
        if (!one.is_running()) revive(host, one);
        heal(host, one);
      }
  }

  // Everything that was asked is answered, and leases end.
  void answer_all() {
    auto& system = world_.system();
    const auto end = system.now() + patience;
    const auto is_busy = [](const worker_state& w) { return w.waits || w.lease != 0; };
    while (result_.violation.empty() && std::any_of(workers_.begin(), workers_.end(), is_busy)) {
      for (auto& worker : workers_)
        if (!worker.waits && worker.lease != 0) end_lease(worker);
      if (system.deliver_one()) continue;
      const auto next = system.next_event();
      if (!next || *next > end) break;
      system.advance_to(*next);
    }
    for (const auto& worker : workers_)
      if (result_.violation.empty() && worker.waits) violate(worker.name + " was never answered");
  }

  // Everybody reads everything once more.
  void check_at_rest() {
    for (auto& worker : workers_)
      for (std::size_t k = 0; k < keys_.size() && result_.violation.empty(); ++k) {
        get(worker, k);
        answer_all();
      }
  }

  void check_end() {
    for (auto& [name, host] : hosts_) {
      for (const auto& process : host.processes) {
        auto& one = *world_.process(process);
        const auto leases = one.figure(actor_kind::memory, std::nullopt, "leases").value_or(0);
        if (leases != 0) violate(process + " still has " + std::to_string(leases) + " leases");
        check_store(host, one);
        if (!world_.stop(one)) violate(process + " did not shut down in time");
      }
      for (auto& worker : workers_)
        world_.kill(*world_.find_client(worker.name));
      if (world_.disk_of(name).open_descriptions() != 0)
        violate(name + " has files that were never closed");
    }
    if (world_.system().living_actors() != 0) violate("actors are left");
  }

  // What a failing disk or a power loss tore stays where it is, unread, until it is evicted.
  void check_store(const host_state& host, const simulated_process& process) {
    const auto checked = process.store()->verify(false);
    if (!checked)
      violate(process.name() + " cannot check its store: " + checked.error().to_string());
    else if (!host.was_torn && !checked->intact())
      violate(process.name() + " has a store that is not intact: " + checked->findings.at(0));
  }

  simulation_options options_;
  dice random_;
  simulation_result result_;
  bool is_tight_ = false;
  std::uint64_t max_value_bytes_ = 200;
  std::vector<key_state> keys_;
  std::map<std::string, host_state> hosts_;
  std::vector<worker_state> workers_;
  std::map<std::string, moment> flushed_;
  virtual_time next_fault_{};
  std::uint64_t writes_ = 0;
  world world_; // the first to go: until its end it writes the trace and answers
};

} // namespace

simulation_result simulate(std::uint64_t seed, const simulation_options& options) {
  return simulator(seed, options).run();
}

} // namespace hearth::simulation
