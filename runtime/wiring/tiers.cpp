#include "runtime/wiring/tiers.hpp"

#include "actors/caller_unit.hpp"
#include "actors/disk_shard.hpp"
#include "actors/memory_shard.hpp"

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
std::shared_ptr<storage::change_journal> open_journal(const tier_ports& ports) {
  if (ports.remote->mode == remote_mode::read_only) return nullptr;
  const bool is_kept = ports.store && ports.leases; // a store that is open for writing
  if (!is_kept) return std::make_shared<storage::change_journal>();
  auto opened = ports.store->open_journal(ports.remote->name + "\n" + ports.remote->naming.prefix);
  if (opened) // the store has to outlive it
    return {opened->release(), [store = ports.store](storage::change_journal* one) { delete one; }};
  ports.log(log_level::warning,
            "a server that was away may undo what is replaced or removed here: " +
                opened.error().text());
  return std::make_shared<storage::change_journal>();
}

// Where purges by other hosts go. The handles are filled in when the actors are there.
std::shared_ptr<actors::purge_ports> prepare_purges(const tier_ports& ports) {
  auto made = std::make_shared<actors::purge_ports>();
  made->cache_of = ports.cache_of;
  made->writer = {ports.remote->holder, ports.remote->holder};
  made->journal = open_journal(ports);
  if (!ports.store) return made;
  made->writer.store = std::to_string(ports.store->id());
  made->mark = ports.store->fleet_mark();
  ports.remote->gate->has_heard.store(false, std::memory_order_relaxed);
  return made;
}

} // namespace

tier_actors spawn_tiers(caf::actor_system& system, tier_ports ports) {
  tier_actors made;
  std::shared_ptr<actors::purge_ports> purges;
  std::shared_ptr<const actors::remote_gate> gate;
  if (ports.remote && ports.cache_of) {
    purges = prepare_purges(ports);
    ports.remote->purges = purges;
    gate = ports.remote->gate;
  }
  if (ports.remote) made.remote = system.spawn(actors::remote_tier, std::move(*ports.remote));
  std::shared_ptr<storage::change_journal> journal;
  if (purges) journal = purges->journal;
  made.disk_shards = spawn_disk_shards(system, ports, journal);
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
    shard.gate = gate;
    shard.journal = journal;
    shard.patience = ports.patience;
    shard.waits = ports.waits;
    shard.log = ports.log;
    shards.push_back(system.spawn(actors::memory_shard, std::move(shard)));
  }
  made.shards = actors::shard_router(std::move(shards));
  if (purges) {
    purges->shards = made.shards;
    purges->disk_shards = made.disk_shards;
    caf::anon_send(made.remote, verb::begin_v);
  }
  return made;
}

void append(std::vector<caf::actor>& all, const tier_actors& tiers) {
  for (const auto& shard : tiers.shards.all())
    all.push_back(caf::actor_cast<caf::actor>(shard));
  for (const auto& shard : tiers.disk_shards)
    all.push_back(caf::actor_cast<caf::actor>(shard));
  if (tiers.remote) all.push_back(caf::actor_cast<caf::actor>(tiers.remote));
}

} // namespace hearth::wiring
