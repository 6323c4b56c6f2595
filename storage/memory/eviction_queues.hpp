// Which entry of the memory index is evicted next: S3-FIFO with one hit bit an entry.
//
// Owner: the index; only the index's owner calls it. New entries enter a small queue (a tenth of
// all). At its end, an entry that was hit moves to the main queue; any other is evicted, and its
// hash is remembered for a while: if the entry comes back, it enters the main queue at once. The
// main queue is a clock: an entry that was hit since its last visit goes round again. (Yang et al.,
// "FIFO queues are all you need for cache eviction", SOSP 2023.)
#pragma once

#include "storage/memory/node.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

namespace hearth::storage {

/// Remembers the hashes of about the last `capacity` entries that were added.
class ghost_list {
public:
  void add(std::uint64_t hash);
  /// Whether the hash was added lately. A wrong yes is rare and harmless.
  bool contains(std::uint64_t hash) const noexcept;
  /// Makes it remember at least `entries` hashes; growing forgets those that it held.
  void set_capacity(std::size_t entries);
  void clear() noexcept;
  std::size_t bytes() const noexcept { return cells_.capacity() * sizeof(cell); }

private:
  static constexpr std::size_t ways = 4;
  struct cell {
    std::uint32_t mark = 0; // upper half of the hash
    std::uint32_t time = 0; // value of `clock_`; 0: the cell is free
  };
  std::size_t set_of(std::uint64_t hash) const noexcept {
    return (hash & (cells_.size() / ways - 1)) * ways;
  }
  static std::uint32_t mark_of(std::uint64_t hash) noexcept {
    return static_cast<std::uint32_t>(hash >> 32);
  }

  std::vector<cell> cells_; // a power of two of cells, in sets of four
  std::size_t capacity_ = 0;
  std::uint32_t clock_ = 0;
};

class eviction_queues {
public:
  struct entry {
    node* held; // null: the entry was erased since
    std::uint64_t hash;
  };

  void add(node& fresh, std::uint64_t hash);
  /// `fresh` takes the place of `old`.
  void replace(node& old, node& fresh) noexcept;
  void remove(node& gone);
  /// Removes and returns the entry to evict; `held` is null when there is none.
  entry take_victim();
  std::uint64_t hash_of(const node& n) const noexcept;
  /// Calls `visit(node, hash)` for all entries. `visit` must not change the queues.
  template <class Visit>
  void each(Visit&& visit) const;
  /// Calls `visit(node, hash)` for all entries and removes all.
  template <class Visit>
  void clear(Visit&& visit);

  std::size_t size() const noexcept { return small_.live + main_.live; }
  std::size_t bytes() const noexcept;

private:
  static constexpr std::uint32_t in_main = std::uint32_t{1} << 31;
  static constexpr std::size_t small_share = 10; // the small queue has size()/small_share entries

  // A queue with holes. An entry's position is its number since the queue began, in 31 bits.
  struct queue {
    std::deque<entry> entries;
    std::uint32_t first = 0; // position of entries.front()
    std::size_t live = 0;
  };

  queue& queue_of(const node& n) noexcept { return n.position & in_main ? main_ : small_; }
  static entry& at(queue& q, std::uint32_t position) noexcept {
    return q.entries[(position - q.first) & ~in_main];
  }
  void push(queue& q, entry e);
  entry pop(queue& q) noexcept;
  void compact(queue& q) noexcept;
  std::uint32_t position_of(const queue& q, std::size_t index) const noexcept;
  static bool take_hit(node& n) noexcept;

  queue small_;
  queue main_;
  ghost_list ghosts_;
};

template <class Visit>
void eviction_queues::each(Visit&& visit) const {
  for (const auto* q : {&small_, &main_})
    for (const auto& e : q->entries)
      if (e.held) visit(*e.held, e.hash);
}

template <class Visit>
void eviction_queues::clear(Visit&& visit) {
  each(visit);
  for (auto* q : {&small_, &main_})
    *q = queue{};
  ghosts_.clear();
}

} // namespace hearth::storage
