// The options of a named cache. Plain value.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string_view>

namespace hearth {

/// The options with which a named cache is opened.
struct cache_options {
  std::string_view version = "0"; ///< a cache of another version is separate
  bool memory = true;             ///< whether this tier is used; also `disk`, `remote`
  bool disk = true;
  bool remote = true;
  /// Bytes of the memory budget reserved for this cache: its entries never take more, and entries
  /// of other caches never evict them. Zero: it shares the rest with all other caches. The disk has
  /// no such shares: it evicts its oldest segments, except for recently hit entries, regardless of
  /// the cache.
  std::uint64_t memory_share_bytes = 0;
  bool compress = false; ///< compresses values on disk, if that makes them smaller
  bool sign = false;     ///< signs entries in the remote tier
  /// Called for each hit that saved time, with the time that making the entry took and the sum over
  /// all hits of this handle and its copies. Runs on the thread of the hit or of the actor that
  /// answers; it must not block. Each handle has its own callback; without one, hits are not
  /// examined.
  std::function<void(std::chrono::nanoseconds saved, std::chrono::nanoseconds total)>
      on_time_saved{};
};

} // namespace hearth
