#include "messages/replies.hpp"

namespace hearth {

std::string_view to_string(tier t) noexcept {
  switch (t) {
  case tier::none: return "none";
  case tier::memory: return "memory";
  case tier::disk: return "disk";
  case tier::remote: return "remote";
  }
  return "none";
}

memory_shard_stats& memory_shard_stats::operator+=(const memory_shard_stats& other) noexcept {
  entries += other.entries;
  bytes_used += other.bytes_used;
  budget_bytes += other.budget_bytes;
  hits += other.hits;
  misses += other.misses;
  inserted += other.inserted;
  evicted += other.evicted;
  erased += other.erased;
  leases_granted += other.leases_granted;
  leases_waiting += other.leases_waiting;
  leases_held += other.leases_held;
  loads += other.loads;
  coalesced += other.coalesced;
  promotions += other.promotions;
  unpersisted += other.unpersisted;
  return *this;
}

std::string_view to_string(insert_outcome outcome) noexcept {
  return outcome == insert_outcome::inserted ? "inserted" : "exists";
}

std::string_view to_string(fleet_lease outcome) noexcept {
  switch (outcome) {
  case fleet_lease::ours: return "ours";
  case fleet_lease::elsewhere: return "elsewhere";
  case fleet_lease::unavailable: return "unavailable";
  }
  return "unavailable";
}

} // namespace hearth
