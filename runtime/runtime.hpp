// The runtime: makes the actors, wires them, and shuts them down.
//
// One object owns it; handles may outlive it and then answer `closed`. It leaves signals, the
// locale and stderr alone. In the child of a fork its handles answer hits, and `forked` to the
// rest; nothing of it waits there for threads that the child does not have.
#pragma once

#include "messages/error.hpp"
#include "messages/replies.hpp"
#include "runtime/cache.hpp"
#include "runtime/config.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace caf {
class actor_system;
class actor_system_config;
} // namespace caf

namespace hearth {

/// Tells a host's actor system our message types; to be called before the system is made.
void add_message_types(caf::actor_system_config& host);

/// How a named cache is used.
struct cache_options {
  std::string_view version = "0"; ///< another version is another, empty cache
  bool memory = true;             ///< in these tiers
  bool disk = true;
  bool remote = true;
  /// Bytes of the memory budget for this cache alone: its entries never take more, and others never
  /// push them out. Zero: it shares what is left with all others. The disk has no such shares: its
  /// oldest segments go, whosoever's entries they hold, but for what was hit lately.
  std::uint64_t memory_share_bytes = 0;
  bool compress = false; ///< values on disk, where they become smaller by it
  bool sign = false;     ///< entries in the remote tier
  /// Told of each hit that saved something: the time that making the entry took, and that of all
  /// hits of this handle and its copies until now. On the thread of the hit, or of the actor that
  /// answers; it must not wait. Each handle has its own; without one, hits are not looked at.
  std::function<void(std::chrono::nanoseconds saved, std::chrono::nanoseconds total)>
      on_time_saved{};
};

/// Hits and misses of a tier since the runtime started. A get that misses memory asks the disk.
struct tier_counts {
  std::uint64_t hits = 0, misses = 0;
};

/// What a runtime counts.
struct runtime_stats {
  tier_counts memory, disk;
  std::optional<remote_tier_stats> remote; ///< nothing without a remote tier
  std::uint64_t entries = 0;               ///< in memory
  std::uint64_t bytes_used = 0;   ///< payloads, metadata, keys, tables and what waits to be freed
  std::uint64_t budget_bytes = 0; ///< of memory
  std::uint64_t inserted = 0, evicted = 0, erased = 0; ///< in memory
  std::uint64_t loads = 0;                             ///< looks below memory by actors, ...
  std::uint64_t coalesced = 0;  ///< ... and gets that joined one that was under way
  std::uint64_t promotions = 0; ///< hits on disk kept in memory
  std::uint64_t unstored = 0;   ///< in memory, and the disk could not take it yet
  std::uint64_t leases_granted = 0, leases_held = 0, leases_waiting = 0;
};

class runtime {
public:
  /// Starts with an actor system of its own. When the store cannot be used, the runtime goes on
  /// without a disk tier and says so once in the log.
  explicit runtime(config settings);
  /// Starts in the host's actor system, which has our message types and outlives this.
  runtime(config settings, caf::actor_system& host);
  runtime(const runtime&) = delete;
  runtime& operator=(const runtime&) = delete;
  /// Shuts down.
  ~runtime();

  /// A named cache; the same one for all who name it with the same options. Any thread. Errors:
  /// `invalid_argument` for a name or version that cannot be one, for options other than those it
  /// is open with, for a share of memory beyond what is left.
  expected<cache> open(std::string_view name, cache_options options = {});

  /// The cache of that identity as it is open; else on disk alone, and not opened by it: for what
  /// brings entries of caches that the host may never name.
  cache open_apart(const cache_id& id);

  /// Makes everything that was acknowledged survive a power loss.
  expected<void> flush();

  /// Asks every shard; not from an actor. Of a runtime that is shut down: what is still known.
  runtime_stats stats() const;

  /// Every counter, as a page that Prometheus reads (docs/metrics.md). Not from an actor. Errors:
  /// `closed`, `forked`.
  expected<std::string> metrics() const;

  /// Whether there is a disk tier, and if not, why.
  bool has_disk() const noexcept;
  const error& disk_problem() const noexcept;

  /// Answers what was asked, within the deadline, kills what runs, and ends every thread of its
  /// own. Whoever still waits gets `closed`. Idempotent.
  void shutdown();

  /// What our own parts work with.
  runtime_core& core() noexcept { return *core_; }

private:
  std::shared_ptr<runtime_core> core_;
};

} // namespace hearth
