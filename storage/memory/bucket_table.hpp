// The lock-free table of the memory index: buckets of one cache line, no tombstones.
//
// Owner: the index. Only the index's owner changes it; any thread reads. A table that grows names
// the next one and is emptied into it; its address range stays until the index is destroyed, its
// memory does not. docs/memory-index.md explains each memory order.
#pragma once

#include "storage/memory/hazard.hpp"
#include "storage/memory/node.hpp"

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace hearth::storage {

/// Seven words of 16 bits of the hash and 48 bits of node address, and one word of their tags:
/// seven bytes of 8 other bits of the hash (0: free), the top byte counts the entries that passed
/// this bucket because it was full.
struct alignas(64) bucket {
  static constexpr unsigned word_count = 7;

  std::atomic<std::uint64_t> tags{0};
  std::atomic<std::uint64_t> words[word_count] = {};
};
static_assert(sizeof(bucket) == 64);

class bucket_table {
public:
  /// Maximum distance of an entry from its home bucket. Tables grow at a load of a half; at 7
  /// tenths one in some thousand runs of 8 is full, of 32 none in billions; 31 * 7 passing entries
  /// still fit the overflow count.
  static constexpr std::size_t longest_probe = 32;

  /// Makes a table of at least `buckets` (rounded up to a power of two, at least a page); null when
  /// memory is short.
  static std::unique_ptr<bucket_table> make(std::size_t buckets) noexcept;
  /// Buckets that `entries` need at the load at which a table grows.
  static std::size_t buckets_for(std::size_t entries) noexcept;
  bucket_table(const bucket_table&) = delete;
  bucket_table& operator=(const bucket_table&) = delete;
  ~bucket_table();

  // --- readers

  /// The node of this key, protected by `slot`; null when the key is not in this table.
  node* find(std::uint64_t hash, std::uint32_t cache, std::string_view key,
             hazard_slot& slot) const noexcept;
  /// The same for nearly every entry, without a loop: also null when the entry is not the first of
  /// its tag in its home bucket, or was just replaced. `slot` may name another node then.
  [[gnu::always_inline]] node* find_first(std::uint64_t hash, std::uint32_t cache,
                                          std::string_view key, hazard_slot& slot) const noexcept;
  /// The table to search next when an entry is not in this one.
  const bucket_table* next() const noexcept { return next_.load(std::memory_order_acquire); }
  /// Prefetches the bucket in which a search begins.
  void prefetch(std::uint64_t hash) const noexcept { __builtin_prefetch(&home(hash)); }
  /// Prefetches the node that a search for a key of `key_size` bytes would read first. Does not
  /// read the node, which may be freed.
  void prefetch_node(std::uint64_t hash, std::size_t key_size) const noexcept;

  // --- owner

  /// Calls `visit` with each node here whose hash has the same tags; returns the first for which it
  /// is true.
  template <class Visit>
  node* find_if(std::uint64_t hash, Visit&& visit) const;
  /// False when every bucket that may hold the entry is full.
  bool insert(std::uint64_t hash, node* fresh) noexcept;
  /// Replaces `old` by `fresh`, which has the same hash. False when `old` is not in this table.
  bool replace(std::uint64_t hash, const node* old, node* fresh) noexcept;
  /// Removes `gone`. False when it is not in this table.
  bool erase(std::uint64_t hash, const node* gone) noexcept;
  /// An entry in the home bucket of `hash`, to evict for an insert; null when there is none.
  node* neighbour(std::uint64_t hash) const noexcept;

  /// Names the table into which this one is emptied; new entries go into that one from now on.
  void set_next(bucket_table* next) noexcept { next_.store(next, std::memory_order_release); }
  /// Moves the entries whose home is bucket `home_index` into the next table. `hash_of(node)`
  /// returns a node's hash; `drop(node, hash)` receives the entries for which there is no room. All
  /// of them are removed from this table.
  template <class Hash, class Drop>
  void empty_home(std::size_t home_index, Hash&&, Drop&&);
  /// Releases the memory of an emptied table. Readers may still search it and find nothing.
  void discard() noexcept;

  bool is_full() const noexcept { return used_ * 2 > size() * bucket::word_count; }
  std::size_t used() const noexcept { return used_; }
  std::size_t size() const noexcept { return mask_ + 1; } ///< buckets
  std::size_t bytes() const noexcept { return discarded_ ? 0 : size() * sizeof(bucket); }

private:
  static constexpr std::uint64_t address_bits = (std::uint64_t{1} << 48) - 1;
  static constexpr unsigned overflow_shift = 56;
  static constexpr std::uint64_t one_overflow = std::uint64_t{1} << overflow_shift;
  static constexpr std::uint64_t every_byte = 0x0001010101010101;
  static constexpr std::uint64_t every_top_bit = 0x0080808080808080;

  bucket_table(bucket* buckets, std::size_t mask) noexcept
      : buckets_(buckets)
      , mask_(mask) {}

  static std::uint64_t tag_of(std::uint64_t hash) noexcept {
    const auto tag = hash >> 40 & 0xff;
    return tag ? tag : 1;
  }
  // A set top bit in each byte of `tags` that equals `tag`, and perhaps in one above such a byte.
  static std::uint64_t match(std::uint64_t tags, std::uint64_t tag) noexcept {
    const auto differ = (tags & ~(std::uint64_t{0xff} << overflow_shift)) ^ every_byte * tag;
    return (differ - every_byte) & ~differ & every_top_bit;
  }
  static unsigned first_of(std::uint64_t matches) noexcept {
    return static_cast<unsigned>(std::countr_zero(matches)) / 8;
  }
  static node* node_of(std::uint64_t word) noexcept {
    return reinterpret_cast<node*>(word & address_bits);
  }
  static std::uint64_t word_of(std::uint64_t hash, const node* n) noexcept {
    return (hash & ~address_bits) | reinterpret_cast<std::uint64_t>(n);
  }
  static bool other_hash(std::uint64_t word, std::uint64_t hash) noexcept {
    return ((word ^ hash) & ~address_bits) != 0;
  }
  bucket& home(std::uint64_t hash) const noexcept { return buckets_[hash & mask_]; }
  bucket& at(std::size_t index) const noexcept { return buckets_[index & mask_]; }

  struct place {
    std::size_t distance = 0; // number of buckets from home
    unsigned word = 0;
    bool found = false;
  };
  place locate(std::uint64_t hash, const node* n) const noexcept;
  void add_overflow(std::uint64_t hash, std::size_t distance, std::uint64_t change) noexcept;
  void clear(std::uint64_t hash, std::size_t distance, unsigned word) noexcept;

  bucket* buckets_;
  std::size_t mask_;
  std::atomic<bucket_table*> next_{nullptr};
  std::size_t used_ = 0;
  bool discarded_ = false;
};

inline node* bucket_table::find_first(std::uint64_t hash, std::uint32_t cache, std::string_view key,
                                      hazard_slot& slot) const noexcept {
  const auto& b = home(hash);
  const auto matches = match(b.tags.load(std::memory_order_acquire), tag_of(hash));
  if (!matches) return nullptr;
  const auto& word = b.words[first_of(matches)];
  const auto seen = word.load(std::memory_order_acquire);
  if (!seen || other_hash(seen, hash)) [[unlikely]]
    return nullptr;
  auto* const candidate = node_of(seen);
  if (!protect(slot, candidate, word, seen) || !candidate->is(cache, key)) [[unlikely]]
    return nullptr;
  return candidate;
}

template <class Visit>
node* bucket_table::find_if(std::uint64_t hash, Visit&& visit) const {
  for (std::size_t probe = 0; probe < longest_probe; ++probe) {
    const auto& b = at(hash + probe);
    const auto tags = b.tags.load(std::memory_order_relaxed);
    for (auto matches = match(tags, tag_of(hash)); matches; matches &= matches - 1) {
      const auto word = b.words[first_of(matches)].load(std::memory_order_relaxed);
      if (word && !other_hash(word, hash) && visit(*node_of(word))) return node_of(word);
    }
    if (tags < one_overflow) break;
  }
  return nullptr;
}

template <class Hash, class Drop>
void bucket_table::empty_home(std::size_t home_index, Hash&& hash_of, Drop&& drop) {
  auto* const next = next_.load(std::memory_order_relaxed);
  bool more = true;
  for (std::size_t distance = 0; more && distance < longest_probe; ++distance) {
    auto& b = at(home_index + distance);
    more = b.tags.load(std::memory_order_relaxed) >= one_overflow;
    for (unsigned i = 0; i < bucket::word_count; ++i) {
      const auto word = b.words[i].load(std::memory_order_relaxed);
      if (!word) continue;
      auto* const moved = node_of(word);
      const std::uint64_t hash = hash_of(*moved);
      if ((hash & mask_) != home_index) continue;
      // Inserts there before it removes here: a reader that misses the entry here searches there
      // next.
      const bool has_room = next->insert(hash, moved);
      clear(hash, distance, i);
      if (!has_room) drop(*moved, hash);
    }
  }
}

} // namespace hearth::storage
