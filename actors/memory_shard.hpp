// memory_shard: one shard of the memory tier. It is the only writer of its index, and owns the
// in-flight table of loads and the compile leases of its keys. Any thread reads the index that it
// publishes.
//
// A pooled, event-based actor: it never blocks.
#pragma once

#include "actors/ports/log_sink.hpp"
#include "actors/remote_tier/remote_gate.hpp"
#include "actors/shared_promise.hpp"
#include "messages/protocol.hpp"
#include "storage/disk/change_journal.hpp"
#include "storage/disk/store.hpp"
#include "storage/memory/memory_view.hpp"

#include <caf/actor_addr.hpp>
#include <caf/actor_clock.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace hearth::actors {

/// The parts that a memory shard uses. Without a store there are no disk shards and no leases
/// across processes.
struct memory_shard_config {
  std::shared_ptr<storage::memory_view> view;
  /// The views of all shards of this runtime; they are updated when this shard moves a disk shard's
  /// epoch.
  std::vector<std::shared_ptr<storage::memory_view>> all_views;
  std::shared_ptr<storage::store> store;
  std::shared_ptr<storage::lease_table> leases;
  std::vector<disk_shard_actor> disk_shards;
  remote_tier_actor remote;                ///< may be null
  std::shared_ptr<const remote_gate> gate; ///< the remote tier's; null without one
  /// Notes changes until the fleet has heard of them; null: it never does.
  std::shared_ptr<storage::change_journal> journal;
  std::chrono::milliseconds shortest_poll{1};
  std::chrono::milliseconds longest_poll{10};
  std::chrono::milliseconds shortest_fleet_poll{5}; ///< while another host holds the lease
  std::chrono::milliseconds longest_fleet_poll{200};
  /// A holder of a process lease beats so often; another process passes it over after that silence.
  std::chrono::milliseconds lease_beat{500};
  std::chrono::milliseconds lease_silence{3'000};
  /// After so long a caller stops waiting for another caller's compile, and gets a lease of its
  /// own.
  std::chrono::milliseconds patience{300'000};
  /// Told, in a line, of a caller that has waited for another process or host for 2 s, 12 s, ...
  std::function<void(std::string_view)> waits;
  std::chrono::milliseconds first_reclaim{
      50}; ///< delay before the next scan of removed entries; doubles
  log_sink log;
};

struct memory_shard_state {
  static inline const char* name = "memory_shard";

  /// A caller that waits for a lease, or for the artifact that its holder makes.
  struct waiter {
    reply_target<lease_reply> reply;
    caf::actor_addr actor; ///< the requester, if it is an actor
    bool waited = false;
    std::uint64_t look = 0; ///< the record's look that was under way when it joined
  };

  using time_point = caf::actor_clock::time_point;

  /// The last sign of life of another process that holds a lease, and since when it is the last.
  struct lease_watch {
    std::optional<storage::lease_holder> last;
    time_point since;
    time_point looked; ///< when this process last looked
  };

  /// A key whose entry is being looked up, waited for or compiled.
  struct lease_record {
    enum class phase : std::uint8_t {
      looking,    ///< looks on disk and in the remote tier, before it takes a lease
      elsewhere,  ///< another process holds the lease: polls
      asking,     ///< asks for the fleet's lease
      away,       ///< another host holds the lease: polls
      rechecking, ///< holds the leases and looks once more
      held,       ///< the lease is granted under `id`
      fulfilling, ///< the disk is storing the artifact
    };
    phase now = phase::looking;
    std::uint64_t look = 0; ///< number of the last look in the tiers
    bool looks = true;      ///< acquire looks for an entry, lock does not
    bool contended = false; ///< another process or host held the lease
    bool process_lease = false;
    bool fleet_lease = false;
    /// Which of the key's process leases this one takes: one more for each silent holder.
    unsigned rank = 0;
    std::optional<lease_watch> watch;        ///< of the process that holds this one
    std::chrono::milliseconds fleet_poll{0}; ///< the last interval
    lease_id id = 0;
    caf::actor_addr holder;
    std::deque<waiter> waiters;
    std::size_t prune_at = 8; ///< at this many waiters, those that gave up are removed
    time_point patience_ends{};
    time_point waits_since{}; ///< for another process or host
    time_point next_notice{};
    bool is_bypassed = false; ///< the first waiter whose patience ended got a lease of its own
  };

  /// A lease beside the one of its key's record, for a caller whose patience ended.
  struct spare_lease {
    cache_key key;
    caf::actor_addr holder;
  };

  struct load_waiter {
    reply_target<lookup> reply;
    bool is_lookup = true; ///< a caller's lookup, which is counted, and not the shard's own
  };
  /// A lookup below memory: on disk, then in the remote tier.
  struct load_record {
    std::vector<load_waiter> waiters;
    std::uint64_t epoch = 0;  ///< the disk shard's epoch when the load began
    std::uint64_t change = 0; ///< the host's last change then
    /// The number of waiters that joined before the disk answered. Later ones joined during the
    /// remote lookup: another process may have stored the entry before they asked.
    std::size_t before_disk = 0;
    /// A put or erase began after this load: the remote tier may return the old value.
    bool overtaken = false;
    bool is_disk_asked = false;  ///< and has not answered yet
    bool is_disk_unread = false; ///< the disk could not tell whether it has the entry
  };
  using load_ptr = std::shared_ptr<load_record>;
  /// A load that waits for the remote tier.
  struct question {
    cache_key key;
    load_ptr load;
  };

  /// Requests for what the remote tier holds of a set.
  struct refresh_record {
    std::vector<reply_target<set_lookup>> asked; ///< the server is asked for these
    std::vector<reply_target<set_lookup>> next;  ///< came after the server was asked
  };

  memory_shard_config config;
  std::unordered_map<cache_key, load_ptr, cache_key_hash> loads;
  std::unordered_map<cache_key, refresh_record, cache_key_hash> refreshes;
  /// Members of sets that the disk refused. A look-up joins them with what it finds, and the next
  /// change of the set takes them to the disk. Bounded.
  std::unordered_map<cache_key, member_set, cache_key_hash> unwritten_members;
  /// Inserts that the disk is asked for, and the keys that were erased or purged meanwhile: these
  /// inserts came before, so the remote tier must not get them after.
  std::size_t open_inserts = 0;
  std::unordered_set<cache_key, cache_key_hash> erased_meanwhile;
  /// Puts and erases that the disk is asked for and the remote tier is told of: the number of the
  /// latest one.
  std::unordered_map<cache_key, std::uint64_t, cache_key_hash> open_changes;
  std::vector<question> questions; ///< sent to the remote tier in one message
  std::unordered_map<cache_key, lease_record, cache_key_hash> leases;
  std::unordered_map<lease_id, cache_key> lease_keys;
  std::unordered_map<lease_id, spare_lease> spare_leases;
  std::set<caf::actor_addr> monitored; ///< requesters of leases, each monitored once
  std::unordered_map<std::uint32_t, named_cache_ptr> caches; ///< by number, for hits on disk
  lease_id last_lease = 0;
  bool reclaim_is_due = false;
  unsigned reclaims_left = 0; ///< scans before an idle shard stops
  std::chrono::milliseconds reclaim_interval{50};
  /// A value in memory that the disk refused.
  struct unpersisted_value {
    std::uint64_t put = 0; ///< the number of its put; 0: an insert, or a put that no journal has
    /// The last change in the journal before an insert took the value: a later one of the entry, by
    /// any process of the host, holds against it.
    std::uint64_t last_change = 0;
  };
  /// Keys that memory took in while the disk failed. They are stored one by one when the disk works
  /// again.
  std::unordered_map<cache_key, unpersisted_value, cache_key_hash> unpersisted;
  std::deque<cache_key> unpersisted_in_order; ///< in retry order; may hold keys that were forgotten
  bool retry_is_due = false;
  bool is_retrying = false; ///< a write of one of them is in flight
  std::uint64_t unpersisted_count() const noexcept {
    return unpersisted.size() + (is_retrying ? 1 : 0);
  }
  std::chrono::milliseconds retry_interval{100};
  bool beat_is_due = false;
  bool patience_is_due = false;
  bool poll_is_due = false;
  std::chrono::milliseconds poll_interval{1};
  bool lease_failure_was_logged = false;
  memory_shard_stats counters;
};

/// The counters that it answers to `stats`.
memory_shard_stats stats_of(const memory_shard_state& state);

/// The memory shard's behaviour.
memory_shard_actor::behavior_type
memory_shard(memory_shard_actor::stateful_pointer<memory_shard_state> self,
             memory_shard_config config);

} // namespace hearth::actors
