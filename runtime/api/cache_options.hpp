// How a named cache is used. Plain value.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string_view>

namespace hearth {

/// How a named cache is used.
struct cache_options {
  std::string_view version = "0"; ///< another version is another, empty cache
  bool memory = true;             ///< in these tiers
  bool disk = true;
  bool remote = true;
  /// Bytes of the memory budget reserved for this cache: its entries never take more, and entries
  /// of other caches never evict them. Zero: it shares the rest with all other caches. The disk has
  /// no such shares: it evicts its oldest segments, except for recently hit entries, regardless of
  /// the cache.
  std::uint64_t memory_share_bytes = 0;
  bool compress = false; ///< values on disk, where they become smaller by it
  bool sign = false;     ///< entries in the remote tier
  /// Told of each hit that saved something: the time that making the entry took, and that of all
  /// hits of this handle and its copies until now. On the thread of the hit, or of the actor that
  /// answers; it must not wait. Each handle has its own; without one, hits are not looked at.
  std::function<void(std::chrono::nanoseconds saved, std::chrono::nanoseconds total)>
      on_time_saved{};
};

} // namespace hearth
