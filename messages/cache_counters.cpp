#include "messages/cache_counters.hpp"

namespace hearth {

cache_counts
cache_counters::read(const std::array<std::uint64_t, tier_count>& elsewhere) const noexcept {
  const auto now = [](const counter& one) { return one.load(std::memory_order_relaxed); };
  const auto answered_by = [&](tier from) {
    const auto at = static_cast<std::size_t>(from);
    return now(lookups[at]) + elsewhere[at];
  };
  cache_counts all;
  all.memory_hits = answered_by(tier::memory);
  all.disk_hits = answered_by(tier::disk);
  all.remote_hits = answered_by(tier::remote);
  all.misses = answered_by(tier::none);
  all.waits = now(waits);
  all.compiles = now(compiles);
  all.failures = now(failures);
  all.inserted = now(inserted);
  all.existed = now(existed);
  all.put = now(put);
  all.erased = now(erased);
  all.time_saved = std::chrono::nanoseconds(time_saved_ns.load(std::memory_order_relaxed));
  return all;
}

} // namespace hearth
