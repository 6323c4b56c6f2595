#include "runtime/wiring/tiers.hpp"

#include "actors/caller_unit.hpp"
#include "actors/disk_shard.hpp"
#include "actors/memory_shard.hpp"
#include "actors/remote_chain.hpp"

#include <caf/actor_cast.hpp>
#include <caf/send.hpp>

#include <string>
#include <type_traits>
#include <utility>

namespace hearth::wiring {
namespace {

disk_shard_actor
spawn_on_own_thread(caf::actor_system& system, const tier_ports& ports, unsigned shard,
                    const std::shared_ptr<const storage::change_journal>& journal) {
  using actor_class = std::remove_pointer_t<actors::disk_shard_pointer>;
  caf::actor_config config;
  config.init_fun = caf::actor_config::init_fun_type(
      [store = ports.store, shard, journal, log = ports.log](caf::local_actor* self) {
        return actors::disk_shard(static_cast<actors::disk_shard_pointer>(self), store, shard,
                                  journal, log)
            .unbox();
      });
  return system.spawn_class<actors::on_own_thread<actor_class>, caf::lazy_init>(
      config, std::make_shared<actors::own_thread>(system));
}

std::vector<disk_shard_actor>
spawn_disk_shards(caf::actor_system& system, const tier_ports& ports,
                  const std::shared_ptr<const storage::change_journal>& journal) {
  std::vector<disk_shard_actor> all;
  const unsigned count = ports.store ? ports.store->shards() : 0;
  for (unsigned i = 0; i < count; ++i)
    all.push_back(ports.blocking == blocking_actors::own_threads
                      ? spawn_on_own_thread(system, ports, i, journal)
                      : system.spawn(actors::disk_shard, ports.store, i, journal, ports.log));
  return all;
}

std::shared_ptr<storage::lease_table> open_leases(const tier_ports& ports) {
  if (!ports.store || !ports.leases) return nullptr;
  auto leases = ports.store->open_leases();
  if (leases) return std::move(*leases);
  ports.log(log_level::warning,
            "compiles may be done twice, by two processes: " + leases.error().text());
  return nullptr;
}

// Keeps what the fleet has not heard of. In memory only, if the store cannot.
std::shared_ptr<storage::change_journal> open_journal(const tier_ports& ports,
                                                      const actors::remote_tier_config& remote) {
  if (remote.mode == remote_mode::read_only) return nullptr;
  const bool is_kept = ports.store && ports.leases; // a store that is open for writing
  if (!is_kept) return std::make_shared<storage::change_journal>();
  auto opened = ports.store->open_journal(remote.name + "\n" + remote.naming.prefix);
  if (opened) // the store has to outlive it
    return {opened->release(), [store = ports.store](storage::change_journal* one) { delete one; }};
  ports.log(log_level::warning,
            "a server that was away may undo what is replaced or removed here: " +
                opened.error().text());
  return std::make_shared<storage::change_journal>();
}

std::string log_of(const actors::remote_tier_config& remote) {
  return storage::name_of_log(remote.name, storage::purge_log_name(remote.naming.prefix));
}

// The caches as one of several tiers sees them: those that do not use it have no remote tier.
std::function<named_cache_ptr(const cache_id&)>
caches_of(const tier_ports& ports, const actors::remote_tier_config& remote) {
  if (!remote.takes) return ports.cache_of;
  return [all = ports.cache_of, takes = remote.takes](const cache_id& id) {
    auto named = all(id);
    if (takes(id)) return named;
    auto apart = *named;
    apart.remote = false;
    return named_cache_ptr(std::make_shared<const named_cache>(std::move(apart)));
  };
}

// Where purges by other hosts go. The handles are filled in when the actors are there.
std::shared_ptr<actors::purge_ports> prepare_purges(const tier_ports& ports,
                                                    const actors::remote_tier_config& remote) {
  auto made = std::make_shared<actors::purge_ports>();
  made->cache_of = caches_of(ports, remote);
  made->writer = {remote.holder, remote.holder};
  made->journal = open_journal(ports, remote);
  if (!ports.store) return made;
  made->writer.store = std::to_string(ports.store->id());
  made->mark = ports.store->fleet_mark();
  remote.gate->has_heard.store(false, std::memory_order_relaxed);
  return made;
}

// The remote tiers of a process, with what connects them to its other actors.
struct remote_tiers {
  std::vector<actors::remote_tier_config> configs;          // nearest first
  std::vector<std::shared_ptr<actors::purge_ports>> purges; // of each; empty: none are heard
  std::shared_ptr<storage::change_journal> journal;
  std::shared_ptr<const actors::remote_gate> gate; // null: without purges
};

// One journal notes a change in those of all tiers.
std::shared_ptr<storage::change_journal> join_journals(const remote_tiers& all) {
  std::shared_ptr<storage::change_journal> first;
  storage::change_journal::cache_filter takes;
  std::vector<storage::change_journal::companion> others;
  for (std::size_t i = 0; i < all.purges.size(); ++i) {
    const auto& journal = all.purges[i]->journal;
    if (!journal) continue;
    if (first) {
      others.push_back({journal, all.configs[i].takes});
    } else {
      first = journal;
      takes = all.configs[i].takes;
    }
  }
  if (first && all.configs.size() > 1) first->note_also_in(std::move(others), std::move(takes));
  return first;
}

// The logs of the tiers that take changes, as each tells the others' names.
std::string logs_of_writable(const remote_tiers& all) {
  std::string logs;
  if (all.configs.size() == 1) return logs;
  for (const auto& one : all.configs)
    if (one.mode != remote_mode::read_only) logs += (logs.empty() ? "" : " ") + log_of(one);
  return logs;
}

remote_tiers prepare_remotes(tier_ports& ports) {
  remote_tiers all;
  if (!ports.remote) return all;
  if (ports.cache_of) all.gate = join_gates(ports);
  all.configs.push_back(std::move(*ports.remote));
  for (auto& one : ports.farther)
    all.configs.push_back(std::move(one));
  if (!ports.cache_of) return all;
  const auto logs = logs_of_writable(all);
  for (auto& one : all.configs) {
    all.purges.push_back(prepare_purges(ports, one));
    all.purges.back()->told = logs;
    one.purges = all.purges.back();
  }
  all.journal = join_journals(all);
  return all;
}

// Spawns the tiers, and their chain if there are several.
void spawn_remotes(caf::actor_system& system, remote_tiers& all, tier_actors& made) {
  if (all.configs.empty()) return;
  actors::remote_chain_config chain;
  for (auto& one : all.configs) {
    actors::chained_tier link;
    link.log = log_of(one);
    link.mode = one.mode;
    link.takes = one.takes;
    if (one.purges) link.journal = one.purges->journal;
    link.drain_deadline = one.drain_deadline;
    link.actor = system.spawn(actors::remote_tier, std::move(one));
    chain.tiers.push_back(std::move(link));
  }
  if (chain.tiers.size() == 1) {
    made.remote = chain.tiers.front().actor;
    return;
  }
  for (const auto& one : chain.tiers)
    made.remotes.push_back(one.actor);
  const remote_chain_actor joined = system.spawn(actors::remote_chain, std::move(chain));
  for (std::size_t i = 0; i < all.purges.size(); ++i)
    all.purges[i]->passes_on = [joined, i](const cache_key& key, const std::string& told) {
      caf::anon_send(joined, verb::purge_v, key, std::uint64_t{i}, told);
    };
  made.remote = joined;
}

} // namespace

std::shared_ptr<const actors::remote_gate> join_gates(const tier_ports& ports) {
  if (ports.farther.empty()) return ports.remote->gate;
  auto joined = std::make_shared<actors::remote_gate>();
  joined->parts.push_back(ports.remote->gate);
  for (const auto& one : ports.farther)
    joined->parts.push_back(one.gate);
  return joined;
}

tier_actors spawn_tiers(caf::actor_system& system, tier_ports ports) {
  tier_actors made;
  auto remotes = prepare_remotes(ports);
  spawn_remotes(system, remotes, made);
  made.disk_shards = spawn_disk_shards(system, ports, remotes.journal);
  for (unsigned i = 0; i < ports.memory_shards; ++i)
    made.views.push_back(std::make_shared<storage::memory_view>(ports.index, ports.store));
  std::vector<memory_shard_actor> shards;
  for (const auto& view : made.views) {
    actors::memory_shard_config shard;
    shard.view = view;
    shard.all_views = made.views;
    shard.store = ports.store;
    shard.leases = open_leases(ports);
    shard.disk_shards = made.disk_shards;
    shard.remote = made.remote;
    shard.gate = remotes.gate;
    shard.journal = remotes.journal;
    shard.patience = ports.patience;
    shard.waits = ports.waits;
    shard.log = ports.log;
    shards.push_back(system.spawn(actors::memory_shard, std::move(shard)));
  }
  made.shards = actors::shard_router(std::move(shards));
  for (const auto& one : remotes.purges) {
    one->shards = made.shards;
    one->disk_shards = made.disk_shards;
  }
  if (!remotes.purges.empty()) caf::anon_send(made.remote, verb::begin_v);
  return made;
}

void append(std::vector<caf::actor>& all, const tier_actors& tiers) {
  for (const auto& shard : tiers.shards.all())
    all.push_back(caf::actor_cast<caf::actor>(shard));
  for (const auto& shard : tiers.disk_shards)
    all.push_back(caf::actor_cast<caf::actor>(shard));
  if (tiers.remote) all.push_back(caf::actor_cast<caf::actor>(tiers.remote));
  for (const auto& one : tiers.remotes)
    all.push_back(caf::actor_cast<caf::actor>(one));
}

} // namespace hearth::wiring
