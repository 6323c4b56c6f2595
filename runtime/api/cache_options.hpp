// The options of a named cache. Plain value.
#pragma once

#include "messages/visibility.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>

namespace HEARTH_PUBLIC hearth {

/// The options with which a named cache is opened:
/// `rt.open("tunings", cache_options().with_version("2").without_remote())`.
///
/// No aggregate: GCC 12 destroys an aggregate that is made within a `co_await` twice.
class cache_options {
public:
  using time_saved_callback =
      std::function<void(std::chrono::nanoseconds saved, std::chrono::nanoseconds total)>;

  cache_options() {}

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
  /// How long an entry lasts that is stored through this cache: from then on it is a miss, in every
  /// tier and every process. Zero: for ever. At most a hundred years. Entries that grow (guarded
  /// variants, nested caches) have none.
  std::chrono::milliseconds ttl{0};
  /// Called for each hit that saved time, with the time that making the entry took and the sum over
  /// all hits of this handle and its copies. Runs on the thread of the hit or of the actor that
  /// answers; it must not block. Each handle has its own callback; without one, hits are not
  /// examined.
  time_saved_callback on_time_saved{};

  // Each returns these options with one of them changed.
  [[nodiscard]] cache_options with_version(std::string_view text) const {
    return changed([&](cache_options& with) { with.version = text; });
  }
  [[nodiscard]] cache_options without_memory() const {
    return changed([](cache_options& with) { with.memory = false; });
  }
  [[nodiscard]] cache_options without_disk() const {
    return changed([](cache_options& with) { with.disk = false; });
  }
  [[nodiscard]] cache_options without_remote() const {
    return changed([](cache_options& with) { with.remote = false; });
  }
  [[nodiscard]] cache_options in_memory_only() const { return without_disk().without_remote(); }
  [[nodiscard]] cache_options with_memory_share(std::uint64_t bytes) const {
    return changed([&](cache_options& with) { with.memory_share_bytes = bytes; });
  }
  [[nodiscard]] cache_options compressed() const {
    return changed([](cache_options& with) { with.compress = true; });
  }
  [[nodiscard]] cache_options signing() const {
    return changed([](cache_options& with) { with.sign = true; });
  }
  [[nodiscard]] cache_options with_ttl(std::chrono::milliseconds time) const {
    return changed([&](cache_options& with) { with.ttl = time; });
  }
  [[nodiscard]] cache_options telling_time_saved(time_saved_callback callback) const {
    return changed([&](cache_options& with) { with.on_time_saved = std::move(callback); });
  }

private:
  template <class Change>
  cache_options changed(Change change) const {
    auto with = *this;
    change(with);
    return with;
  }
};

} // namespace hearth
