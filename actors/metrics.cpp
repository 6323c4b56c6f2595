#include "actors/metrics.hpp"

#include "actors/remote_chain.hpp"
#include "actors/shared_promise.hpp"
#include "messages/metrics_page.hpp"

#include <chrono>
#include <optional>
#include <utility>

namespace hearth::actors {
namespace {

constexpr auto stats_timeout = std::chrono::seconds{10};

// The figures of one page, while its parts arrive.
struct figures {
  memory_shard_stats memory; // the sum of all shards
  std::vector<named_cache_counts> caches;
  std::optional<remote_tier_stats> remote;
  broker_stats programs;
  std::size_t open = 0;       // answers in flight
  std::size_t unanswered = 0; // answers that did not come
};

// --- the page ----------------------------------------------------------------------------------

void write_lookups(metrics_page& page, const figures& all, const storage::store_stats& disk) {
  auto memory_hits = all.memory.hits;
  for (const auto& one : all.caches)
    memory_hits += one.memory_hits;
  std::uint64_t remote_hits = 0, remote_misses = 0;
  if (all.remote)
    for (const auto& one : all.remote->caches) {
      remote_hits += one.hits;
      remote_misses += one.misses;
    }
  page.counter("hits_total", "Lookups that a tier answered.");
  page.sample(memory_hits, {{"tier", "memory"}});
  page.sample(disk.hits, {{"tier", "disk"}});
  page.sample(remote_hits, {{"tier", "remote"}});
  page.counter("misses_total", "Lookups that went on to the next tier, or to a compile.");
  page.sample(all.memory.misses, {{"tier", "memory"}});
  page.sample(disk.misses, {{"tier", "disk"}});
  page.sample(remote_misses, {{"tier", "remote"}});
}

void write_caches(metrics_page& page, const std::vector<named_cache_counts>& caches) {
  const auto sample = [&](const named_cache_counts& of, std::uint64_t value,
                          std::string_view outcome) {
    page.sample(value, {{"cache", of.cache}, {"version", of.version}, {"outcome", outcome}});
  };
  page.counter("cache_lookups_total", "Lookups, by named cache and by what answered them.");
  for (const auto& one : caches) {
    sample(one, one.memory_hits, "memory");
    sample(one, one.disk_hits, "disk");
    sample(one, one.remote_hits, "remote");
    sample(one, one.waits, "waited");
    sample(one, one.misses, "miss");
  }
  page.counter("cache_compiles_total", "Compiles under a lease, by named cache and outcome.");
  for (const auto& one : caches) {
    sample(one, one.compiles, "made");
    sample(one, one.failures, "failed");
  }
  page.counter("cache_saved_milliseconds_total",
               "Time of compiling that hits saved, by named cache, of handles that count it.");
  for (const auto& one : caches)
    page.sample(static_cast<std::uint64_t>(
                    std::chrono::duration_cast<std::chrono::milliseconds>(one.time_saved).count()),
                {{"cache", one.cache}, {"version", one.version}});
  page.counter("cache_writes_total", "Writes, by named cache and outcome.");
  for (const auto& one : caches) {
    sample(one, one.inserted, "inserted");
    sample(one, one.existed, "existed");
    sample(one, one.put, "put");
    sample(one, one.erased, "erased");
  }
}

void write_memory(metrics_page& page, const memory_shard_stats& memory) {
  page.gauge("memory_entries", "Entries in memory.", memory.entries);
  page.gauge("memory_used_bytes", "Memory that entries and tables take.", memory.bytes_used);
  page.gauge("memory_budget_bytes", "Limit of the memory that entries and tables take.",
             memory.budget_bytes);
  page.counter("memory_changes_total", "Changes of the entries in memory.");
  page.sample(memory.inserted, {{"change", "inserted"}});
  page.sample(memory.evicted, {{"change", "evicted"}});
  page.sample(memory.erased, {{"change", "erased"}});
  page.counter("loads_total", "Lookups on disk or in the remote tier, by message.", memory.loads);
  page.counter("coalesced_total", "Lookups that joined one in flight for the same key.",
               memory.coalesced);
  page.counter("promotions_total", "Hits on disk that memory took in.", memory.promotions);
  page.gauge("unpersisted_entries", "Entries in memory that the disk could not take yet.",
             memory.unpersisted);
  page.counter("leases_granted_total", "Leases to compile that were granted.",
               memory.leases_granted);
  page.gauge("leases", "Leases to compile that are held, and requests that wait for one.");
  page.sample(memory.leases_held, {{"state", "held"}});
  page.sample(memory.leases_waiting, {{"state", "waiting"}});
  page.counter("leases_passed_over_total",
               "Leases of others for which a caller no longer waited, by reason.");
  page.sample(memory.silent_holders, {{"reason", "silent"}});
  page.sample(memory.waits_ended, {{"reason", "patience"}});
}

void write_disk(metrics_page& page, const storage::store_stats& disk) {
  page.gauge("disk_entries", "Entries on disk.", disk.entries);
  page.gauge("disk_live_bytes", "Bytes of entries on disk.", disk.live_bytes);
  page.gauge("disk_used_bytes", "Bytes of the store's files.", disk.disk_bytes);
  page.gauge("disk_budget_bytes", "Limit of the bytes of the store's files.", disk.budget_bytes);
  page.gauge("disk_segments", "Segments of the store.", disk.segments);
  page.counter("disk_writes_total", "Writes to disk by this process, by outcome.");
  page.sample(disk.inserted, {{"outcome", "inserted"}});
  page.sample(disk.existed, {{"outcome", "existed"}});
  page.sample(disk.put, {{"outcome", "put"}});
  page.sample(disk.erased, {{"outcome", "erased"}});
  page.sample(disk.failed, {{"outcome", "failed"}});
  page.counter("disk_groups_total", "Groups that these writes went to disk in.", disk.groups);
  page.counter("disk_unserved_total", "Entries on disk that could not be served.");
  page.sample(disk.corrupt, {{"reason", "corrupt"}});
  page.sample(disk.unreadable, {{"reason", "unreadable"}});
  page.sample(disk.expired, {{"reason", "expired"}});
  page.counter("disk_evicted_total", "Entries evicted from disk by this process.", disk.evicted);
  page.counter("disk_kept_by_hit_total", "Entries that a hit kept from eviction.",
               disk.kept_by_hit);
  page.counter("disk_rebuilds_total", "Indexes rebuilt from segments.", disk.rebuilds);
}

void write_remote_state(metrics_page& page, const remote_tier_stats& remote) {
  page.gauge("remote_breaker", "1 for the state that the breaker of the remote tier is in.");
  for (const std::string_view state : {"closed", "half_open", "open"}) {
    page.sample(remote.state == state, {{"of", "lookups"}, {"state", state}});
    page.sample(remote.writes == state, {{"of", "writes"}, {"state", state}});
  }
  page.counter("remote_openings_total", "How often the breaker of the remote tier opened.",
               remote.openings);
  page.gauge("remote_writes", "Writes behind that are not acknowledged.");
  page.sample(remote.waiting, {{"state", "waiting"}});
  page.sample(remote.in_flight, {{"state", "in_flight"}});
  page.gauge("remote_write_bytes", "Bytes of the writes behind that are not acknowledged.",
             remote.bytes);
  page.gauge("remote_unheard_changes",
             "Entries replaced or removed here of which the server has not heard.", remote.unheard);
  page.counter("remote_unsent_total", "Writes behind that were never sent.");
  page.sample(remote.dropped, {{"reason", "queue_full"}});
  page.sample(remote.too_large, {{"reason", "too_large"}});
  page.gauge("remote_leases_held", "Leases of the fleet that are held.", remote.leases_held);
  page.counter("remote_leases_total", "Requests for a lease of the fleet, by outcome.");
  page.sample(remote.leases_granted, {{"outcome", "granted"}});
  page.sample(remote.leases_elsewhere, {{"outcome", "elsewhere"}});
  page.sample(remote.leases_unavailable, {{"outcome", "unavailable"}});
  page.counter("remote_leases_lost_total", "Leases of the fleet that others took while held.",
               remote.leases_lost);
  page.counter("remote_leases_endless_total", "Leases of others without expiry, which got one.",
               remote.leases_endless);
}

void write_remote_caches(metrics_page& page, const remote_tier_stats& remote) {
  page.counter("remote_operations_total", "Operations on the remote tier, by cache and outcome.");
  for (const auto& one : remote.caches) {
    const auto sample = [&](std::uint64_t value, std::string_view outcome) {
      page.sample(value, {{"cache", one.cache}, {"version", one.version}, {"outcome", outcome}});
    };
    sample(one.hits, "hit");
    sample(one.misses, "miss");
    sample(one.puts, "put");
    sample(one.existed, "existed");
    sample(one.skipped, "skipped");
    sample(one.lost, "lost");
  }
  page.counter("remote_failures_total", "Operations on the remote tier that failed, by reason.");
  for (const auto& one : remote.caches)
    for (const auto& [reason, count] : one.failures)
      page.sample(count, {{"cache", one.cache}, {"version", one.version}, {"reason", reason}});
}

// The counts of a tier for all caches together.
remote_cache_counts counts_of(const remote_tier_stats& tier) {
  remote_cache_counts all;
  for (const auto& one : tier.caches)
    add_counts(all, one);
  return all;
}

// Several tiers, each by itself, under names of their own: those above are their sums.
void write_remote_tiers(metrics_page& page, const std::vector<remote_tier_stats>& tiers) {
  page.gauge("remote_tier_breaker", "1 for the state that the breaker of this tier is in.");
  for (const auto& one : tiers)
    for (const std::string_view state : {"closed", "half_open", "open"}) {
      page.sample(one.state == state, {{"remote", one.name}, {"of", "lookups"}, {"state", state}});
      page.sample(one.writes == state, {{"remote", one.name}, {"of", "writes"}, {"state", state}});
    }
  page.counter("remote_tier_openings_total", "How often the breaker of this tier opened.");
  for (const auto& one : tiers)
    page.sample(one.openings, {{"remote", one.name}});
  page.gauge("remote_tier_writes", "Writes behind to this tier that are not acknowledged.");
  for (const auto& one : tiers) {
    page.sample(one.waiting, {{"remote", one.name}, {"state", "waiting"}});
    page.sample(one.in_flight, {{"remote", one.name}, {"state", "in_flight"}});
  }
  page.counter("remote_tier_operations_total", "Operations on this tier, by outcome.");
  for (const auto& one : tiers) {
    const auto counts = counts_of(one);
    for (const auto& [outcome, value] : {std::pair{"hit", counts.hits},
                                         {"miss", counts.misses},
                                         {"put", counts.puts},
                                         {"existed", counts.existed},
                                         {"skipped", counts.skipped},
                                         {"lost", counts.lost}})
      page.sample(value, {{"remote", one.name}, {"outcome", outcome}});
  }
  page.counter("remote_tier_failures_total", "Operations on this tier that failed, by reason.");
  for (const auto& one : tiers)
    for (const auto& [reason, count] : counts_of(one).failures)
      page.sample(count, {{"remote", one.name}, {"reason", reason}});
}

void write_programs(metrics_page& page, const broker_stats& programs) {
  page.counter("programs_total", "Compilers and other programs that were started.", programs.runs);
  page.counter("program_failures_total", "Compilers and other programs that failed.",
               programs.failures);
  page.counter("trials_total", "Kernels that were tried.", programs.trials);
  page.gauge("programs_queued", "Programs and trials that wait for a worker.", programs.queued);
}

metrics_page page_of(const metrics_config& config, const figures& all) {
  const auto disk = config.store ? config.store->stats() : storage::store_stats{};
  metrics_page page;
  page.gauge("info", "The program.");
  page.sample(1, {{"version", config.version}});
  page.gauge("unanswered", "Actors that did not answer; their figures are left out.",
             all.unanswered);
  write_lookups(page, all, disk);
  write_caches(page, all.caches);
  write_memory(page, all.memory);
  if (config.store) write_disk(page, disk);
  if (all.remote) {
    write_remote_state(page, *all.remote);
    write_remote_caches(page, *all.remote);
    if (!all.remote->each.empty()) write_remote_tiers(page, all.remote->each);
  }
  write_programs(page, all.programs);
  return page;
}

// --- its parts ---------------------------------------------------------------------------------

// Asks one actor and passes its answer to `take`. The last answer completes the page.
template <class Stats, class Handle, class Take>
void ask(metrics_pointer self, const std::shared_ptr<figures>& all,
         const shared_promise<metrics_page>& reply, const Handle& actor, Take take) {
  const auto end_one = [self, all, reply] {
    if (--all->open != 0) return;
    if (const auto& caches = self->state.config.caches) all->caches = caches();
    reply.deliver(page_of(self->state.config, *all));
  };
  ++all->open;
  self->request(actor, stats_timeout, verb::stats_v)
      .then(
          [=](const Stats& stats) {
            take(*all, stats);
            end_one();
          },
          [=](const caf::error&) {
            ++all->unanswered;
            end_one();
          });
}

caf::result<metrics_page> make_page(metrics_pointer self) {
  const shared_promise<metrics_page> reply(self->make_response_promise<metrics_page>());
  const auto& config = self->state.config;
  const auto all = std::make_shared<figures>();
  for (const auto& shard : config.shards.all())
    ask<memory_shard_stats>(self, all, reply, shard,
                            [](figures& into, const auto& stats) { into.memory += stats; });
  if (config.remote)
    ask<remote_tier_stats>(self, all, reply, config.remote,
                           [](figures& into, const auto& stats) { into.remote = stats; });
  ask<broker_stats>(self, all, reply, config.broker,
                    [](figures& into, const auto& stats) { into.programs = stats; });
  return reply.promise();
}

} // namespace

metrics_actor::behavior_type metrics(metrics_pointer self, metrics_config config) {
  self->state.config = std::move(config);
  return {
      [self](verb::stats) { return make_page(self); },
  };
}

} // namespace hearth::actors
