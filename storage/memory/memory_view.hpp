// The published state of a memory shard: its index, and the epochs of the disk shards that its
// entries reflect.
//
// Any thread reads; the memory_shard actor that owns it writes. Entries in memory are valid as long
// as no process changed their disk shard since: put and erase move the disk shard's epoch, and the
// owner records here the epochs up to which it has applied the changes.
#pragma once

#include "messages/replies.hpp"
#include "storage/disk/store.hpp"
#include "storage/memory/memory_index.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace hearth::storage {

class memory_view {
public:
  /// `disk` may be null.
  memory_view(memory_index_options options, std::shared_ptr<const store> disk);

  memory_index& index() noexcept { return index_; }
  const memory_index& index() const noexcept { return index_; }

  /// The artifact of a `memory_key`, given in parts, unless a disk shard changed since the owner
  /// last checked. Any thread.
  [[gnu::always_inline]] artifact get(std::uint32_t cache, std::string_view bytes,
                                      std::uint64_t hash,
                                      const lookup_counter& hits) const noexcept {
    return is_current() ? index_.get(cache, bytes, hash, hits) : artifact{};
  }
  /// Whether all disk shards' epochs are those that the owner applied. Any thread.
  bool is_current() const noexcept {
    for (const auto& one : watched_)
      if (one.seen.load(std::memory_order_acquire) != one.now->epoch()) return false;
    return true;
  }
  /// The epoch that the owner has applied for this disk shard. Any thread.
  std::uint64_t seen(unsigned disk_shard) const noexcept;
  /// Applies a change that touches none of this view's entries, or that the owner has already
  /// carried out. Does nothing when the view has not seen `change.before`: `refresh` drops all
  /// entries then. Any thread: the shard that made the change calls it on all views.
  void advance(unsigned disk_shard, epoch_change change) noexcept;

  /// Counts a promotion that is sent to the owner; false when too many are in flight. Any thread.
  bool begin_promotion() noexcept;
  /// The promotion has arrived.
  void end_promotion() noexcept { promotions_.fetch_sub(1, std::memory_order_relaxed); }

  /// Drops all entries when another process changed a disk shard. The owner's thread.
  void refresh();

private:
  // A disk shard: the epoch that was applied, and the place of the current epoch.
  struct watched_shard {
    std::atomic<std::uint64_t> seen{0};
    const epoch_place* now = nullptr;
  };

  memory_index index_;
  std::shared_ptr<const store> disk_;
  std::vector<watched_shard> watched_;
  std::atomic<int> promotions_{0};
};

} // namespace hearth::storage
