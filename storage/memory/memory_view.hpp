// What a memory shard publishes: its index, and which state of the disk shards its entries reflect.
//
// Any thread reads; the memory_shard actor that owns it writes. Entries in memory are good as long
// as no process changed their disk shard since: put and erase move the disk shard's epoch, and the
// owner notes here the epochs up to which it has taken the changes in.
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

  /// The artifact of a `memory_key` in parts, unless a disk shard changed since the owner looked.
  /// Any thread.
  [[gnu::always_inline]] artifact get(std::uint32_t cache, std::string_view bytes,
                                      std::uint64_t hash) const noexcept {
    return is_current() ? index_.get(cache, bytes, hash) : artifact{};
  }
  /// Whether no disk shard's epoch moved on since the owner took it in. Any thread.
  bool is_current() const noexcept {
    for (const auto& one : watched_)
      if (one.seen.load(std::memory_order_acquire) != one.now->epoch()) return false;
    return true;
  }
  /// The epoch that was taken in for this disk shard. Any thread.
  std::uint64_t seen(unsigned disk_shard) const noexcept;
  /// Takes in a change that touches none of this view's entries, or one that the owner has carried
  /// out. When the view has not seen `change.before`, nothing happens: `refresh` drops everything
  /// then. Any thread: the shard that made the change tells all views.
  void advance(unsigned disk_shard, epoch_change change) noexcept;

  /// Notes a promotion on its way to the owner; false when too many are. Any thread.
  bool begin_promotion() noexcept;
  /// It has arrived.
  void end_promotion() noexcept { promotions_.fetch_sub(1, std::memory_order_relaxed); }

  /// Drops everything when another process changed a disk shard. The owner's thread.
  void refresh();

private:
  // A disk shard: the epoch that was taken in, and where the epoch stands.
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
