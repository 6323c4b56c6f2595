#include "runtime/simulation/simulator/run.hpp"

#include "runtime/simulation/text.hpp"

#include <algorithm>
#include <array>

namespace hearth::simulation {
namespace {

using std::chrono::milliseconds;

constexpr const char* server = "redis";
constexpr milliseconds lease_time{10'000};
constexpr std::chrono::seconds breaker_patience{120}; // for a breaker to close again

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

} // namespace

// Sets up at least two hosts that share a server. Caches made of several entries do not use it: the
// simulator does not model variant lists that come from another host.
void random_run::set_up_remote(process_options& process) {
  has_remote_ = true;
  options_.hosts = std::max(options_.hosts, 2u);
  world_.add_remote(server);
  process.remote.server = server;
  process.remote.lease_time = lease_time;
  process.remote.queue_entries = 16;
  process.remote.max_value_bytes = 30'000;
  for (const auto* name : {"guarded", "autotune", "plan", "actions"})
    world_.set_cache(name, "0", {.remote = false});
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

// --- faults ------------------------------------------------------------------------------------

void random_run::trouble_remote() {
  if (remote_has_trouble_) return end_trouble();
  if (random_.one_in(3)) return damage_remote();
  remote_has_trouble_ = true;
  world_.system().note("the server is in trouble");
  world_.remote(server).behave(any_behavior(random_));
}

// Damages the server: flips a byte, or removes everything, leases too.
void random_run::damage_remote() {
  auto& redis = world_.remote(server);
  const auto names = redis.names();
  if (names.empty() || random_.one_in(4)) {
    world_.system().note("the server starts empty");
    redis.forget_all();
    leases_are_certain_ = world_.system().now() + 2 * lease_time;
    return;
  }
  const auto& name = names[random_.below(names.size())];
  auto& bytes = *redis.find(name);
  if (bytes.empty() || name.ends_with(":lease")) return;
  world_.system().note("an entry of the server's is damaged");
  bytes[random_.below(bytes.size())] ^= static_cast<char>(1 << random_.below(8));
}

void random_run::end_trouble() {
  if (!std::exchange(remote_has_trouble_, false)) return;
  world_.system().note("the server is well");
  world_.remote(server).behave({});
  leases_are_certain_ = world_.system().now() + 2 * lease_time;
}

// --- checks ------------------------------------------------------------------------------------

// The server gives a lease to one process at a time. While it has a fault, leases may end unnoticed
// by their holders.
void random_run::check_remote() {
  std::map<std::string, std::string> holders;
  for (const auto& [name, process] : world_.processes()) {
    const auto waiting = process->figure(actor_kind::remote, std::nullopt, "waiting").value_or(0);
    if (waiting > process->options().remote.queue_entries)
      violate(name + " has " + std::to_string(waiting) + " writes waiting, above its bound");
    if (remote_has_trouble_ || world_.system().now() < leases_are_certain_) continue;
    for (const auto& key : process->fleet_leases()) {
      const auto [at, is_first] = holders.try_emplace(text_of(key), name);
      if (!is_first)
        violate(name + " and " + at->second + " both have the fleet's lease of " + at->first);
    }
  }
}

// Runs until, with the server healthy again, every breaker is closed and all waiting writes are
// done.
void random_run::let_remote_recover() {
  const auto end = world_.system().now() + breaker_patience;
  const auto has_recovered = [this] {
    return std::all_of(world_.processes().begin(), world_.processes().end(), [](const auto& one) {
      const auto figure = [&](const char* of) {
        return one.second->figure(actor_kind::remote, std::nullopt, of).value_or(0);
      };
      return figure("closed") == 1 && figure("waiting") + figure("in_flight") == 0 &&
             figure("open_commands") == 0;
    });
  };
  while (!has_recovered() && now() < max_steps)
    if (!step(end)) return violate("a breaker did not close, or writes are left");
}

} // namespace hearth::simulation
