// remote_tier: this process's view of the remote server. It looks entries up, writes behind, holds
// the fleet leases of this process, and owns the circuit breaker. A failure of the server is a miss
// or a dropped write, never an error.
//
// A pooled, event-based actor: it never blocks. Replies come through an inbox, so that one message
// announces many. Its parts are in actors/remote_tier/.
#pragma once

#include "actors/ports/log_sink.hpp"
#include "actors/ports/remote_client.hpp"
#include "actors/remote_tier/failure_severity.hpp"
#include "actors/remote_tier/purge_ports.hpp"
#include "actors/remote_tier/remote_gate.hpp"
#include "actors/remote_tier/reply_inbox.hpp"
#include "actors/shared_promise.hpp"
#include "messages/protocol.hpp"
#include "messages/remote_mode.hpp"
#include "storage/disk/change_journal.hpp"
#include "storage/remote/breaker.hpp"
#include "storage/remote/entry_names.hpp"
#include "storage/remote/envelope.hpp"
#include "storage/remote/purge_log.hpp"
#include "storage/remote/write_behind.hpp"

#include <caf/actor_clock.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace hearth::actors {

struct remote_tier_config {
  std::shared_ptr<remote_client> server;
  std::string name = "the remote tier"; ///< the server's address in the log, without secrets
  storage::remote_naming naming;        ///< of names on the server
  storage::signing_keys keys;
  remote_mode mode = remote_mode::read_write;
  std::chrono::milliseconds deadline{100};        ///< for lookups and leases
  std::chrono::milliseconds write_deadline{5000}; ///< for a write
  std::chrono::milliseconds probe_deadline{1000}; ///< for a probe; no request waits for it
  std::chrono::milliseconds ttl{0};               ///< TTL of entries; zero: for ever
  std::chrono::milliseconds lease_time{30'000};   ///< how long a lease lasts without renewal
  std::uint64_t max_value_bytes = std::uint64_t{64} << 20;
  storage::write_behind_limits queue;
  storage::breaker_options breaker;
  std::string holder = "h"; ///< start of this process's lease tokens; unique in the fleet
  std::shared_ptr<remote_gate> gate = std::make_shared<remote_gate>();
  std::shared_ptr<purge_ports> purges; ///< null: purges by other hosts are not heard
  /// Of one of several tiers: the caches that use it; empty: all.
  std::function<bool(const cache_id&)> takes{};
  /// Of one of several tiers: how long its writes are waited for at shutdown.
  std::chrono::milliseconds drain_deadline{5'000};
  log_sink log;
};

struct remote_tier_state {
  static inline const char* name = "remote_tier";

  /// Keys that one request looks up together.
  struct asked_entries {
    static constexpr auto answered = static_cast<std::size_t>(-1);
    key_list keys;
    lookup_list answers;             ///< misses until their replies come
    std::vector<std::size_t> places; ///< by command: the key's index, or `answered`
    std::size_t open;                ///< commands in flight
    shared_promise<lookup_list> reply;
  };
  /// Another host's lease, and when this process looked whether it has an expiry.
  using checked_leases =
      std::unordered_map<cache_key, caf::actor_clock::time_point, cache_key_hash>;
  struct asked_lease {
    cache_key key;
    std::string token;
    reply_target<fleet_lease> reply;
    caf::actor_clock::time_point ends{}; ///< as in `held_lease`, if it is granted
  };
  /// A set that the server is asked for.
  struct asked_set {
    cache_key key;
    shared_promise<fleet_members> reply;
  };
  /// The log of the fleet's purges, as far as this process knows it.
  struct purge_log_record {
    bool is_on = false;                       ///< `begin` has come
    bool is_there = true;                     ///< the server keeps a log
    bool is_reading = false;                  ///< a read is in flight
    bool is_read = false;                     ///< it was read since the server was reached last
    bool is_waiting = false;                  ///< the server is asked to tell of the next purge
    bool has_waited = false;                  ///< it was asked so before
    bool timer_is_due = false;                ///< its timer runs
    std::chrono::milliseconds retry_delay{0}; ///< after a read that failed; 0: it did not
    std::optional<storage::log_place> place;  ///< of the last purge that was read
    /// Entries that this process's shards have to drop and have not yet: how often each. What they
    /// insert before they have was made before the purge.
    std::unordered_map<cache_key, std::size_t, cache_key_hash> purging;
    std::size_t clearing = 0; ///< how often the disk has to drop everything, and has not yet
    /// Changes were taken over from ended processes: the log may have them, before its mark too.
    bool has_to_match = false;
    std::size_t unmarked = 0;                ///< purges read since the store's mark was written
    bool is_marked = false;                  ///< the store has a mark
    std::vector<reply_target<done>> waiting; ///< for the first read
    /// Purges by other hosts of entries that this process is putting or erasing: the later one
    /// counts.
    std::unordered_map<cache_key, storage::log_place, cache_key_hash> held;
    /// Inserts and overwrites that were in flight when another host purged their entry.
    std::unordered_set<storage::write_behind::number> late;
    /// Inserts, in flight, in whose place the server has the mark of a removed entry.
    struct refused_insert {
      storage::write_behind::number which;
      std::string mark;
    };
    std::unordered_map<cache_key, refused_insert, cache_key_hash> refused;
  };
  /// Changes of this host that the fleet has not heard of.
  struct unheard_record {
    struct left_change {
      storage::change_journal::number which = 0;
      bool is_put = false;
      std::uint64_t value = 0; ///< for a put: hash of the value, or 0: any
      bool is_queued = false;  ///< a write tells it
      bool is_logged = false;  ///< the log has it, and nothing later of the entry
      /// `id` of the journal of the ended process that made it; 0: it was given up here, or noted
      /// again.
      std::uint64_t journal = 0;
      std::uint64_t holder = 0; ///< `id` of that in which this process has found it
      /// The fleet has heard of a later change of this host, but the server may have got this one
      /// last. `is_logged`: then this host's is the last change in the log.
      bool was_passed = false;
    };
    struct whole_change {
      named_cache_ptr cache;
      storage::change_journal::number which = 0;
      bool is_cleared = false; ///< on the server
    };
    /// Of this process's journal: what ended processes have left, and what was given up.
    std::unordered_map<cache_key, left_change, entry_hash, same_entry> left;
    using cache_name = std::pair<std::string, std::string>; ///< with the version
    std::map<cache_name, whole_change> whole;
    /// Of other processes.
    struct change_elsewhere {
      storage::change_journal::number which = 0;
      bool is_put = false;
      std::uint64_t value = 0; ///< as in `left_change`
    };
    std::unordered_map<cache_key, change_elsewhere, entry_hash, same_entry> elsewhere;
    /// A put of this host that outlives a purge by another host.
    struct outliving_put {
      storage::change_journal::number which = 0; ///< 0: its number is not known
      /// As in `left_change`; nothing: what was put is gone, or not known.
      std::optional<std::uint64_t> value;
    };
    /// Entries with such a put that is not told yet: the store may not have it.
    std::unordered_map<cache_key, outliving_put, entry_hash, same_entry> purged;
    std::set<cache_name> whole_elsewhere;
    /// Entries of which the shards are asked whether this host still has what was just put on the
    /// server, and how often: the server's answer would be that put.
    std::unordered_map<cache_key, std::size_t, entry_hash, same_entry> checking;
    /// Entries of which a put was told again since the timer ran last, and how often.
    std::unordered_map<cache_key, unsigned, entry_hash, same_entry> told_again;
    /// Puts that this host may have changed since. They are told one after another; the first is
    /// being told.
    std::deque<cache_key> to_be_told;
    bool is_blind = false;     ///< their journals cannot be read
    std::uint64_t seen = 0;    ///< `written` of the journal at the last look, and 1
    std::size_t telling = 0;   ///< entries whose values are looked up
    bool timer_is_due = false; ///< its timer runs

    /// Changes that ended processes have left, that were given up, or of whole caches.
    std::uint64_t open() const noexcept { return left.size() + telling + whole.size(); }
  };
  /// Receives the index of a command in its exchange, and its reply.
  using reply_handler = std::function<void(std::size_t, const remote_reply&)>;
  /// Commands sent together.
  struct exchange {
    command_purpose what;
    std::size_t open; ///< replies in flight
    reply_handler next;
  };

  remote_tier_config config;
  storage::breaker service{{}};     ///< breaker of all commands
  storage::breaker writing{{}};     ///< breaker of writes only: out of memory, read only
  storage::write_behind writes{{}}; ///< unacknowledged writes
  std::shared_ptr<reply_inbox> inbox = std::make_shared<reply_inbox>();
  std::vector<reply_inbox::item> taken; ///< replies being handled, taken out of `inbox`
  std::unordered_map<std::uint64_t, exchange> exchanges;         ///< in flight
  std::map<std::uint64_t, asked_entries> lookups;                ///< in flight, in request order
  std::map<std::uint64_t, asked_set> set_lookups;                ///< in flight, in request order
  std::unordered_map<std::uint64_t, asked_lease> lease_requests; ///< by the numbers of their tokens
  /// A lease of the fleet that this process holds. One that was not renewed in time may be
  /// another's; a renewal takes it again if it is free.
  struct held_lease {
    std::string token;
    caf::actor_clock::time_point ends; ///< unless it is renewed; the server's may end later
  };
  std::unordered_map<cache_key, held_lease, cache_key_hash> leases;
  checked_leases leases_checked; ///< leases of other hosts; bounded
  /// Keys whose remote entry is unusable: the next insert of such a key replaces the entry.
  /// Bounded.
  std::unordered_set<cache_key, cache_key_hash> unusable_entries;
  std::vector<reply_target<done>> syncs; ///< requests that wait for the writes
  purge_log_record log;
  unheard_record unheard;
  /// The number of commands in flight, without the one that waits for purges.
  std::uint64_t open_commands() const noexcept {
    std::uint64_t open = 0;
    for (const auto& [number, one] : exchanges)
      if (one.what != command_purpose::notice) open += one.open;
    return open;
  }
  std::uint64_t last_exchange = 0;
  std::uint64_t last_lookup = 0;
  std::uint64_t last_token = 0;
  std::uint64_t last_mark = 0;     ///< of removed entries
  std::set<std::string> ill_nodes; ///< what was logged of nodes of a cluster that take no writes
  bool probe_is_out = false;
  bool has_answered = false;   ///< the server has replied at least once
  bool renewal_is_due = false; ///< its timer runs
  bool retry_is_due = false;   ///< its timer runs
  bool has_scripts = true;     ///< the server runs EVAL
  remote_tier_stats counters;
  std::unordered_map<std::uint32_t, remote_cache_counts> caches; ///< by number
};

/// The remote tier's behaviour. The actor closes `config.server` when it ends.
remote_tier_actor::behavior_type
remote_tier(remote_tier_actor::stateful_pointer<remote_tier_state> self, remote_tier_config config);

} // namespace hearth::actors
