// The counters of a runtime, for its host. Plain values.
#pragma once

#include "messages/cache_counters.hpp"
#include "messages/replies.hpp"
#include "messages/visibility.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace HEARTH_PUBLIC hearth {

/// Hits and misses of a tier since the runtime started. A get that misses memory asks the disk.
struct tier_counts {
  std::uint64_t hits = 0, misses = 0;
};

/// The counters of a runtime: of memory and of its tiers.
struct runtime_stats : memory_counts {
  tier_counts memory, disk;
  std::optional<remote_tier_stats> remote; ///< empty without a remote tier
  /// How often the host has told of a bypass (`runtime::note_bypass`), by reason.
  std::map<std::string, std::uint64_t, std::less<>> bypasses{};
  /// Each named cache that was opened, by name and version; not in the child of a fork.
  std::vector<named_cache_counts> caches;
};

} // namespace hearth
