// Answers of the cache's actors. Plain values, any thread.
#pragma once

#include "messages/action.hpp"
#include "messages/artifact.hpp"
#include "messages/error.hpp"
#include "messages/member_set.hpp"
#include "messages/tier.hpp"
#include "messages/visibility.hpp"

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace HEARTH_PUBLIC hearth {

/// A get's answer: a hit with its artifact and tier, or a miss. Empty when `from` is `none`.
struct lookup {
  lookup() = default;
  lookup(tier t, artifact v) noexcept
      : from(t)
      , value(std::move(v)) {}
  /// A miss, because a tier could not be read or did not answer: there may be an entry.
  static lookup unanswered() noexcept {
    lookup miss;
    miss.is_unanswered = true;
    return miss;
  }

  tier from = tier::none;
  bool is_unanswered = false; ///< a miss of `unanswered`
  artifact value;

  bool hit() const noexcept { return from != tier::none; }
  /// The time that a hit saved: the time that making the artifact took, from its metadata.
  std::chrono::nanoseconds time_saved() const { return time_taken(value); }
};

/// Answers of `get_many`, in the order of its keys.
using lookup_list = std::vector<expected<lookup>>;

/// An insert's answer. The first writer wins, here and in every other process.
enum class insert_outcome : std::uint8_t { inserted, exists };
std::string_view to_string(insert_outcome outcome) noexcept;

/// The answer to a request that only succeeds or fails.
struct done {};

/// The epoch of a disk shard before and after a group of writes.
struct epoch_change {
  std::uint64_t before = 0; ///< 0: unknown, since another process moved the epoch too
  std::uint64_t after = 0;

  bool is_known() const noexcept { return before != 0; }
  bool moved() const noexcept { return before != after; }
};

/// A disk shard's answer to an insert.
struct disk_insert_reply {
  insert_outcome outcome = insert_outcome::inserted;
  epoch_change epochs;
};

/// A disk shard's answer to a put or an erase.
struct disk_change_reply {
  bool was_there = false;
  epoch_change epochs;
};

/// The answer to a change of a set.
struct set_reply {
  artifact value; ///< the whole set of this host; empty when there is none
  set_outcome outcome;
  epoch_change epochs; ///< of the disk shard, in its answers
};

/// The remote tier's answer to a request for a set.
struct fleet_members {
  bool is_answered = false; ///< the server has answered
  member_set members;
};

/// A set with what the remote tier holds of it.
struct set_lookup {
  lookup found;
  bool is_whole = false; ///< every tier of the cache has answered
};

/// The number of a lease in its shard; 0 is none.
using lease_id = std::uint64_t;

/// A lease that is offered to its requester. The requester calls `take` and must then end the
/// lease. If the offer is not taken (the request timed out first), the lease is given back. Copies
/// share one lease. Any thread.
class offered_lease {
public:
  /// No lease.
  offered_lease() = default;
  /// `give_back` is called once, if the last copy is destroyed and the lease was not taken; it must
  /// not throw.
  offered_lease(lease_id id, std::function<void()> give_back);

  /// Whether there is a lease.
  explicit operator bool() const noexcept { return offer_ != nullptr; }
  /// The lease's number; 0: no lease.
  lease_id id() const noexcept;
  /// Takes the lease: returns its number; the caller must end it.
  lease_id take() const noexcept;

private:
  struct offer;
  std::shared_ptr<offer> offer_;
};

/// An acquire's answer: the artifact, if it was found or another caller made it, or the lease.
struct lease_reply {
  lookup found;
  offered_lease lease;
  bool waited = false; ///< another holder had the lease before
};

/// Entries of a memory shard: canonical msgpack of the key, and the artifact.
using entry_list = std::vector<std::pair<std::string, artifact>>;

/// Counts of the memory tier and of the leases of its keys.
struct memory_counts {
  std::uint64_t entries = 0;
  std::uint64_t bytes_used = 0; ///< payloads, metadata, keys, tables and memory not yet freed
  std::uint64_t budget_bytes = 0;
  std::uint64_t inserted = 0, evicted = 0, erased = 0;
  std::uint64_t loads = 0;       ///< lookups below memory by message, ...
  std::uint64_t coalesced = 0;   ///< ... and gets that joined one in flight
  std::uint64_t promotions = 0;  ///< hits on disk kept in memory
  std::uint64_t unpersisted = 0; ///< entries in memory that the disk could not take yet
  std::uint64_t leases_granted = 0, leases_held = 0, leases_waiting = 0;
  /// Holders that showed no sign of life, and callers whose patience ended.
  std::uint64_t silent_holders = 0, waits_ended = 0;

  /// Adds the counts of `other`.
  memory_counts& operator+=(const memory_counts& other) noexcept;
};

/// Each of these counts by its name. Code that adds counts or looks for one uses this table.
inline constexpr std::array<std::pair<std::string_view, std::uint64_t memory_counts::*>, 15>
    memory_count_names{{{"entries", &memory_counts::entries},
                        {"bytes_used", &memory_counts::bytes_used},
                        {"budget_bytes", &memory_counts::budget_bytes},
                        {"inserted", &memory_counts::inserted},
                        {"evicted", &memory_counts::evicted},
                        {"erased", &memory_counts::erased},
                        {"loads", &memory_counts::loads},
                        {"coalesced", &memory_counts::coalesced},
                        {"promotions", &memory_counts::promotions},
                        {"unpersisted", &memory_counts::unpersisted},
                        {"leases_granted", &memory_counts::leases_granted},
                        {"leases_held", &memory_counts::leases_held},
                        {"leases_waiting", &memory_counts::leases_waiting},
                        {"silent_holders", &memory_counts::silent_holders},
                        {"waits_ended", &memory_counts::waits_ended}}};
static_assert(sizeof(memory_counts) == memory_count_names.size() * sizeof(std::uint64_t));

/// Counters of one memory shard, its index and its leases.
struct memory_shard_stats : memory_counts {
  std::uint64_t hits = 0; ///< of caches that have no counters of their own
  std::uint64_t misses = 0;

  /// Adds the counters of `other`.
  memory_shard_stats& operator+=(const memory_shard_stats& other) noexcept;
};

/// The outcome of a request for the fleet's lease.
enum class fleet_lease : std::uint8_t {
  ours,
  elsewhere,   ///< another host has the lease
  unavailable, ///< unknown: the remote tier fails, or is not used for leases
};
std::string_view to_string(fleet_lease outcome) noexcept;

/// The remote tier's counters of one named cache.
struct remote_cache_counts {
  std::string cache, version;
  std::uint64_t hits = 0, misses = 0;
  std::uint64_t puts = 0;    ///< acknowledged writes
  std::uint64_t existed = 0; ///< inserts of entries that the server had
  std::uint64_t skipped =
      0; ///< lookups not sent: the breaker was not closed, or the mode is write-only
  std::uint64_t lost = 0; ///< writes given up
  /// Lookups and writes that failed, by reason: "timeout", "forged", ...
  std::map<std::string, std::uint64_t, std::less<>> failures;
};

/// The state and the counters of the remote tier. Of several tiers: the sums of their counters, of
/// their states the worst (open, then half open, then closed) with a problem of that tier, and each
/// by itself in `each`.
struct remote_tier_stats {
  std::string name;    ///< the server's URL, without secrets; of several, blanks between them
  std::string state;   ///< the breaker's: "closed", "open", "half_open"
  std::string writes;  ///< state of the breaker of writes
  std::string problem; ///< the last problem
  std::uint64_t openings = 0;                          ///< times that the breaker opened
  std::uint64_t waiting = 0, in_flight = 0, bytes = 0; ///< figures of the write-behind queue
  std::uint64_t dropped = 0;                           ///< writes dropped from that queue
  std::uint64_t too_large = 0;                         ///< values not sent
  std::uint64_t leases_held = 0, leases_granted = 0, leases_elsewhere = 0;
  std::uint64_t leases_endless = 0;     ///< of others, without expiry; they got one
  std::uint64_t leases_unavailable = 0; ///< compiles that went on without a fleet lease
  std::uint64_t leases_lost = 0;        ///< leases that another process took while held
  std::uint64_t purges_heard = 0;       ///< entries that other hosts replaced or removed
  /// Changes of this host that the server has not heard of, without those that wait in the queue.
  std::uint64_t unheard = 0;
  std::vector<remote_cache_counts> caches;
  std::vector<remote_tier_stats> each{}; ///< of several tiers, nearest first; empty with one

  /// Each tier by itself: `each`, or this one.
  std::vector<remote_tier_stats> tiers() const {
    return each.empty() ? std::vector<remote_tier_stats>{*this} : each;
  }
};

/// Counters of the compile broker.
struct broker_stats {
  std::uint64_t runs = 0;     ///< programs started, trials not counted
  std::uint64_t trials = 0;   ///< kernels tried
  std::uint64_t failures = 0; ///< runs that did not succeed
  std::uint64_t max_at_once = 0;
  std::uint64_t queued = 0;
};

/// A span of work, for traces. Times are from the steady clock, in nanoseconds.
struct trace_span {
  std::string name;
  std::string category;
  std::int64_t start_ns = 0;
  std::int64_t duration_ns = 0;
  std::uint64_t lane = 0; ///< the worker that did the work, or the number of the thread
  std::string key{};      ///< cache and key of the entry that the work is for; may be empty
  std::string tier{};     ///< of a hit: where it was found
};

using span_list = std::vector<trace_span>;

} // namespace hearth
