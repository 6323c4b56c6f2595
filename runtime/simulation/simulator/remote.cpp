#include "runtime/simulation/simulator/run.hpp"

#include "runtime/simulation/text.hpp"
#include "storage/remote/entry_names.hpp"
#include "storage/remote/write_behind.hpp"

#include <algorithm>
#include <array>

namespace hearth::simulation {
namespace {

using std::chrono::milliseconds;

constexpr std::chrono::seconds breaker_patience{120}; // for a breaker to close again

} // namespace

redis_behavior any_behavior(random_source& random) {
  using kind = redis_behavior::kind;
  using scope = redis_behavior::scope;
  constexpr std::array<kind, 7> kinds{kind::refuses, kind::untrusted, kind::stalls, kind::slow,
                                      kind::cuts,    kind::garbles,   kind::errors};
  constexpr std::array<scope, 4> scopes{scope::all, scope::reads, scope::writes, scope::scripts};
  constexpr std::array<const char*, 4> errors{
      "OOM command not allowed when used memory > 'maxmemory'.",
      "READONLY You can't write against a read only replica.",
      "LOADING Redis is loading the dataset in memory", "ERR unknown command 'EVAL'"};
  redis_behavior chosen;
  chosen.what = kinds[random.below(kinds.size())];
  chosen.of = scopes[random.below(scopes.size())];
  chosen.delay = milliseconds(random.between(1, 300));
  chosen.text = errors[random.below(errors.size())];
  return chosen;
}

namespace {

constexpr std::size_t cluster_groups = 3;

} // namespace

// The server, one of two, or some node of the cluster that leads.
simulated_redis& random_run::any_server() {
  if (has_farther_ && random_.one_in(2)) return world_.remote(farther_server);
  if (!is_cluster_) return world_.remote(shared_server);
  auto& cluster = world_.cluster(shared_server);
  return cluster.leader(random_.below(cluster.groups()));
}

simulated_redis& random_run::server_of(std::string_view name) {
  return is_cluster_ ? world_.cluster(shared_server).leader_of(name) : world_.remote(shared_server);
}

// Sets up at least two hosts that share a server. In some worlds they sign what they give it.
void random_run::set_up_remote(process_options& process) {
  has_remote_ = true;
  splits_guards_ = random_.one_in(2);
  watch_purges();
  options_.hosts = std::max(options_.hosts, 2u);
  is_cluster_ = options_.has_cluster;
  has_farther_ = options_.has_farther;
  if (is_cluster_)
    world_.add_cluster(shared_server, cluster_groups);
  else
    world_.add_remote(shared_server);
  // A cluster's writes wait for a node that is ill while the others are well.
  if (is_cluster_) process.remote.drain_deadline = std::chrono::seconds(5);
  process.remote.server = shared_server;
  process.remote.lease_time = lease_time;
  process.remote.queue_entries = 16;
  process.remote.max_value_bytes = 30'000;
  world_.set_cache("autotune", "0", {.remote = false}); // this host's tunings; the fleet's follow
  world_.set_cache("bundles", "0", {.memory = false, .disk = false});
  const bool signs = random_.one_in(3);
  if (signs) process.remote.keys.push_back(signing_key_named("k1"));
  if (has_farther_) {
    world_.add_remote(farther_server);
    process.farther.push_back(process.remote);
    process.farther.back().server = farther_server;
  }
  if (!signs) return;
  world_.set_cache("bundles", "0", {.memory = false, .disk = false, .sign = true});
  for (const auto* name :
       {"fxgraph", "tunes", "guarded", "tunings", "plan", "actions", "nested", "kernels"})
    for (const auto* version : {"0", "2"})
      world_.set_cache(name, version, {.sign = true});
}

// Whether the read may return another host's value. It never may if no client wrote those bytes to
// the key, nor if the key is never erased and a value was acknowledged on this host. For other keys
// the server's value may be old: it may not know of a put or an erase yet.
bool random_run::may_be_foreign(const worker_state& worker, std::size_t k, moment begun,
                                std::string_view bytes) {
  if (!has_remote_ || !written_[k].contains(bytes)) return false;
  if (keys_[k].is_mutable || may_miss_since(hosts_.at(worker.host), begun)) return true;
  return !history_of(worker, k).is_decided(begun);
}

// Whether a client of any host added this variant.
bool random_run::is_of_any_host(std::size_t k, std::string_view guard, std::string_view bytes) {
  return std::any_of(hosts_.begin(), hosts_.end(), [&](const auto& one) {
    const auto at = one.second.guarded.find(k);
    return at != one.second.guarded.end() && at->second.has(guard, bytes, now());
  });
}

// --- faults ------------------------------------------------------------------------------------

void random_run::trouble_remote() {
  if (is_cluster_ && (remote_has_trouble_ || random_.one_in(2))) return trouble_cluster();
  if (remote_has_trouble_) return end_trouble();
  if (random_.one_in(3)) return damage_remote();
  remote_has_trouble_ = true;
  if (random_.one_in(4)) return part_from_remote();
  world_.system().note("the server is in trouble");
  any_server().behave(any_behavior(random_));
}

// One host, or one process of it, does not reach the server.
void random_run::part_from_remote() {
  auto& host = any_host();
  const bool is_one = random_.one_in(2);
  for (const auto& name : host.processes) {
    world_.system().note(name + " does not reach the server");
    world_.process(name)->cut_off(true);
    if (is_one) return;
  }
}

// Until then two hosts may hold one lease: one of them has not noticed that its lease ended.
void random_run::doubt_leases_until(virtual_time when) {
  leases_are_certain_ = std::max(leases_are_certain_, when);
}

// The server starts empty, or with what it saved last: leases too are as they were.
void random_run::lose_some_of_remote() {
  auto& redis = any_server();
  const bool is_empty = random_.one_in(2);
  world_.system().note(is_empty ? "the server starts empty" : "the server loses what is recent");
  if (is_empty)
    redis.forget_all();
  else
    redis.restore();
  server_lost_writes_ = true;
  doubt_leases_until(world_.system().now() + 2 * lease_time);
}

// Another client takes a lease, held or not, without an expiry.
void random_run::take_lease_for_ever() {
  const auto& key = keys_[random_.below(keys_.size())].key;
  world_.system().note("a lease has no expiry");
  const auto name = storage::remote_lease_name(world_.naming_of(shared_server), key);
  server_of(name).store(name, "another client");
  doubt_leases_until(world_.system().now() + 2 * lease_time);
}

// Damages the server: flips a byte, evicts an entry, or loses more.
void random_run::damage_remote() {
  auto& redis = any_server();
  const auto names = redis.names();
  if (random_.one_in(3)) redis.save();
  if (random_.one_in(6)) return take_lease_for_ever();
  if (names.empty() || random_.one_in(4)) return lose_some_of_remote();
  const auto& name = names[random_.below(names.size())];
  if (name.ends_with(":lease")) return;
  if (random_.one_in(2)) {
    world_.system().note("the server evicts an entry");
    gone_.insert(name);
    redis.forget(name);
    return;
  }
  const auto parts = redis.bytes_of(name);
  auto& bytes = *parts[random_.below(parts.size())];
  if (bytes.empty()) return;
  world_.system().note("an entry of the server's is damaged");
  damaged_.insert(name);
  bytes[random_.below(bytes.size())] ^= static_cast<char>(1 << random_.below(8));
}

std::string random_run::name_of(const cache_key& key) const {
  return storage::remote_entry_name(world_.naming_of(shared_server), key);
}

// Whether the server has kept, unharmed, every entry whose name has this part.
bool random_run::has_kept_all_of(std::string_view part) const {
  const auto has_part = [part](const std::string& name) {
    return name.find(part) != std::string::npos;
  };
  return std::none_of(gone_.begin(), gone_.end(), has_part) &&
         std::none_of(damaged_.begin(), damaged_.end(), has_part);
}

void random_run::end_trouble() {
  if (!std::exchange(remote_has_trouble_, false)) return;
  world_.system().note("the server is well");
  if (is_cluster_) {
    auto& cluster = world_.cluster(shared_server);
    cluster.join();
    for (std::size_t node = 0; node < cluster.nodes(); ++node)
      cluster.node(node).behave({});
    is_split_ = may_be_replaced_ = false;
  } else {
    world_.remote(shared_server).behave({});
    if (has_farther_) world_.remote(farther_server).behave({});
  }
  for (const auto& [name, process] : world_.processes())
    process->cut_off(false);
  doubt_leases_until(world_.system().now() + 2 * lease_time);
}

// --- checks ------------------------------------------------------------------------------------

// The server gives a lease to one process at a time. While it has a fault, leases may end unnoticed
// by their holders.
void random_run::check_remote() {
  note_what_reached_the_fleet();
  // Of two servers each gives its own: a process that has given the farther one up asks the nearer.
  std::map<std::pair<std::size_t, std::string>, std::string> holders;
  for (const auto& [name, process] : world_.processes()) {
    const auto waiting = process->figure(actor_kind::remote, std::nullopt, "waiting").value_or(0);
    // Writes come back from a connection that was given up, when as many ends of leases may wait.
    const auto come_back = storage::write_behind_limits{}.in_flight;
    if (waiting > tiers() * process->options().remote.queue_entries + come_back)
      violate(name + " has " + std::to_string(waiting) + " writes waiting, above its bound");
    if (remote_has_trouble_ || world_.system().now() < leases_are_certain_) continue;
    for (std::size_t server = 0; server < tiers(); ++server)
      for (const auto& key : process->fleet_leases(server)) {
        const auto [at, is_first] = holders.try_emplace({server, text_of(key)}, name);
        if (!is_first)
          violate(name + " and " + at->second + " both have the fleet's lease of " + text_of(key));
      }
  }
}

// A process without work on its way has written everything that was acknowledged: the server has
// it, unless the process gave a write up.
void random_run::note_what_reached_the_fleet() {
  for (auto& [name, host] : hosts_)
    for (const auto& process : host.processes) {
      const auto& one = *world_.process(process);
      const auto figure = [&](actor_kind kind, const char* of) {
        return one.figure(kind, std::nullopt, of).value_or(0);
      };
      if (figure(actor_kind::remote, "lost") != 0) server_lost_writes_ = true;
      const bool is_idle = one.is_running() && figure(actor_kind::memory, "mailbox") == 0 &&
                           figure(actor_kind::remote, "mailbox") == 0 &&
                           figure(actor_kind::chain, "mailbox") == 0 &&
                           figure(actor_kind::remote, "waiting") == 0 &&
                           figure(actor_kind::remote, "unheard") == 0 &&
                           figure(actor_kind::remote, "in_flight") == 0;
      if (!is_idle) continue;
      for (auto& [k, past] : host.guarded)
        past.reach_fleet(process);
      for (auto& [place, past] : trees_)
        past.reach_fleet(process, now());
      for (auto& [place, past] : bundled_)
        past.reach_fleet(process, now());
      for (auto& [graph, past] : kernels_)
        past.reach_fleet(process, now());
      reach_fleet(process);
    }
}

// With the server well and every write done, each host finds every variant that reached the server.
void random_run::check_fleet() {
  note_what_reached_the_fleet();
  is_fleet_whole_ = !server_lost_writes_ && !is_tight_;
  for (auto& worker : workers_)
    for (std::size_t k = 0; k < guarded_keys_.size(); ++k)
      for (std::int64_t m = 1; m <= max_m && result_.violation.empty(); ++m) {
        find_variant(worker, k, m);
        answer_all();
      }
  check_purges();
  check_trees();
  check_bundles();
  check_kernels();
}

// Runs until, with the server healthy again, every breaker is closed and all waiting writes are
// done.
void random_run::let_remote_recover() {
  const auto end = world_.system().now() + breaker_patience;
  for (auto ill = what_is_not_well(); !ill.empty(); ill = what_is_not_well())
    if (!step(end)) return violate("a breaker did not close, or writes are left: " + ill);
}

// What keeps the fleet's remote tiers from being as before their troubles; "" when nothing does.
std::string random_run::what_is_not_well() {
  if (is_cluster_ && !world_.cluster(shared_server).is_well_for_all()) return "the cluster";
  for (const auto& [name, process] : world_.processes()) {
    const auto differs = [&, &process = process](const char* of, std::size_t wanted) {
      return process->figure(actor_kind::remote, std::nullopt, of).value_or(0) != wanted;
    };
    for (const auto* all : {"closed", "hears"})
      if (differs(all, tiers())) return name + ": not all of " + all;
    for (const auto* none : {"waiting", "in_flight", "open_commands", "purging", "unheard"})
      if (differs(none, 0)) return name + ": " + none;
  }
  return {};
}

} // namespace hearth::simulation
