// How lookups are counted without a line that threads share: each thread counts in its own record,
// under a number that an index or a named cache owns. Any thread.
#pragma once

#include "messages/cache_key.hpp"
#include "storage/memory/hazard.hpp"

namespace hearth::storage {

/// Owns such a number. No thread may count under it after its destruction.
class lookup_tally {
public:
  lookup_tally() noexcept
      : number_(hazard_registry::of_process().acquire_tally()) {}
  lookup_tally(const lookup_tally&) = delete;
  lookup_tally& operator=(const lookup_tally&) = delete;
  ~lookup_tally() { hazard_registry::of_process().release_tally(number_); }

  /// `lookup_counter::no_tally` when all numbers are in use.
  std::uint32_t number() const noexcept {
    return number_ < hazard_record::tally_count ? number_ : lookup_counter::no_tally;
  }
  /// The lookups counted under it, by tier.
  hazard_registry::tally_sums sums() const noexcept {
    return hazard_registry::of_process().sum_tally(number_);
  }

private:
  const unsigned number_;
};

/// The counts of a cache; zero if it has no counters.
inline cache_counts counts_of(const named_cache& cache) noexcept {
  if (!cache.counters) return {};
  return cache.counters->read(hazard_registry::of_process().sum_tally(cache.lookups.tally));
}

/// Counts a lookup of a cache which this tier answered; `none`: a miss.
inline void count_lookup(const named_cache& cache, tier from) noexcept {
  auto* const record = this_thread_record ? this_thread_record : enlist_this_thread();
  if (record && cache.lookups.tally < hazard_record::tally_count)
    record->count(cache.lookups.tally, from);
  else if (cache.counters)
    cache.counters->count_lookup(from);
}

} // namespace hearth::storage
