// The counters of a named cache: what this process did in it. Any thread.
#pragma once

#include "messages/tier.hpp"
#include "messages/visibility.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>

namespace HEARTH_PUBLIC hearth {

/// Counts of a named cache, by this process, since its runtime opened it first. Plain value.
struct cache_counts {
  /// Lookups of all forms that found an entry, by the tier that had it.
  std::uint64_t memory_hits = 0, disk_hits = 0, remote_hits = 0;
  std::uint64_t misses = 0;   ///< lookups that found none; the caller may have compiled it then
  std::uint64_t waits = 0;    ///< lookups that got what another caller compiled meanwhile
  std::uint64_t compiles = 0; ///< compiles under a lease that made an artifact ...
  std::uint64_t failures = 0; ///< ... and that ended with an error
  std::uint64_t inserted = 0, existed = 0; ///< inserts, by outcome; also those of compiles
  std::uint64_t put = 0, erased = 0;       ///< entries put, and entries dropped by `erase`
  /// By hits of the handles that were opened with `telling_time_saved`.
  std::chrono::nanoseconds time_saved{0};

  std::uint64_t hits() const noexcept { return memory_hits + disk_hits + remote_hits; }
};

/// The counts with the cache that they are of.
struct named_cache_counts : cache_counts {
  std::string cache, version;
};

/// Where the lookups of a named cache are counted.
struct lookup_counter {
  static constexpr std::uint32_t no_tally = ~std::uint32_t{0};

  /// The number under which each thread counts in a place of its own
  /// (storage/memory/lookup_tally.hpp).
  std::uint32_t tally = no_tally;
  /// Counters by tier, for threads and caches without such a place. Null: nothing is counted.
  std::atomic<std::uint64_t>* shared = nullptr;
};

/// The counters that threads share.
struct cache_counters {
  using counter = std::atomic<std::uint64_t>;

  std::array<counter, tier_count> lookups{}; ///< those that no thread counted in its own place
  counter waits{0}, compiles{0}, failures{0}, inserted{0}, existed{0}, put{0}, erased{0};
  std::atomic<std::int64_t> time_saved_ns{0};

  static void count(counter& one) noexcept { one.fetch_add(1, std::memory_order_relaxed); }
  void count_lookup(tier from) noexcept { count(lookups[static_cast<std::size_t>(from)]); }
  void add_time_saved(std::chrono::nanoseconds saved) noexcept {
    time_saved_ns.fetch_add(saved.count(), std::memory_order_relaxed);
  }

  /// These counts; `elsewhere`: the lookups, by tier, that threads counted in their own places.
  cache_counts read(const std::array<std::uint64_t, tier_count>& elsewhere = {}) const noexcept;
};

} // namespace hearth
