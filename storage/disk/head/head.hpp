// A shard's head: one mapped page that all processes share, never replaced. Words of 48 bits, each
// with 16 check bits of its own, so that a torn or flipped page is noticed before any word is used
// or any file is unlinked.
//
// Owner: a shard. Any thread loads; only the holder of the shard's lock stores (except for
// `index_stale` and `dropped`, see shard_files.hpp). Every store is one atomic word: a process
// killed between two stores leaves a head from which the next holder of the lock can continue.
#pragma once

#include "storage/disk/format.hpp"

#include <atomic>
#include <cstdint>

namespace hearth::storage::disk {

/// The words, by position in the page. The words that readers load have a cache line of their own.
enum class head_word : unsigned {
  magic = 0,
  shard,      ///< number of this shard
  store_low,  ///< low half of the store's id
  store_high, ///< high half
  generation, ///< generation of the index
  oldest,     ///< lowest segment that counts
  boot,       ///< machine start during which the head was last opened
  inode,      ///< inode of this file: a copied store has another

  active = 8,   ///< location of the tail: where the next record goes
  reserved,     ///< location up to which a writer may have written
  pending,      ///< where the group being written starts; 0: no group is
  sequence,     ///< sequence of the last record
  next_segment, ///< number of the next segment
  live_bytes,   ///< size of records that the index points at (advisory)
  index_sum,    ///< checksum of all slots
  index_stale,  ///< 1: `index_sum` must be recomputed

  epoch = 16,  ///< moves with every put and erase
  dropped,     ///< which process may hold evicted or damaged entries in memory; see below
  unpersisted, ///< which process may hold entries in memory that were never stored; see below

  synced = 24,   ///< location up to which the active segment survives a power loss
  synced_files,  ///< other segments below this number survive one
  sync_failed,   ///< highest segment that the system could not sync
  segment_bytes, ///< of this store
  shards,        ///< of this store
  retired_after, ///< location that must be synced before segments below the oldest are removed

  count
};

/// Values of `head_word::dropped` and `head_word::unpersisted`. Any other value is the `opening_id`
/// of the one opened store whose process may hold such entries. Stores made before `unpersisted`
/// have 0 without check bits there.
inline constexpr std::uint64_t nobody_holds = 0;
inline constexpr std::uint64_t all_may_hold = 1;

inline constexpr std::uint64_t head_magic = 0x484541525448; // "HEARTH"
inline constexpr std::uint64_t head_value_mask = (std::uint64_t{1} << 48) - 1;

/// Value and check bits of one word.
constexpr std::uint64_t pack_head_word(head_word word, std::uint64_t value) noexcept {
  value &= head_value_mask;
  const auto position = static_cast<std::uint64_t>(word) + 1;
  return value << 16 | mix64(value + position * 0x9e3779b97f4a7c15ULL) >> 48;
}

/// A view of a mapped head page.
class head_page {
public:
  head_page() = default;
  explicit head_page(char* page) noexcept
      : words_(reinterpret_cast<std::atomic<std::uint64_t>*>(page)) {}

  /// The word's value; false when its check bits are wrong.
  bool load(head_word word, std::uint64_t& value) const noexcept {
    const auto packed = at(word).load(std::memory_order_acquire);
    value = packed >> 16;
    return pack_head_word(word, value) == packed;
  }
  /// The value of a word that was verified before.
  std::uint64_t get(head_word word) const noexcept {
    return at(word).load(std::memory_order_acquire) >> 16;
  }
  location place(head_word word) const noexcept { return location::unpack(get(word)); }
  void set(head_word word, std::uint64_t value) noexcept {
    at(word).store(pack_head_word(word, value), std::memory_order_release);
  }
  void set(head_word word, location where) noexcept { set(word, where.packed()); }
  /// Stores `value` if the word holds `present`.
  bool replace(head_word word, std::uint64_t present, std::uint64_t value) noexcept {
    auto packed = pack_head_word(word, present);
    return at(word).compare_exchange_strong(packed, pack_head_word(word, value));
  }

  /// The word itself, with its check bits.
  const std::atomic<std::uint64_t>& word(head_word which) const noexcept { return at(which); }

  std::uint64_t store_id() const noexcept {
    return get(head_word::store_high) << 32 | get(head_word::store_low);
  }
  void set_store_id(std::uint64_t id) noexcept {
    set(head_word::store_low, id & 0xffffffff);
    set(head_word::store_high, id >> 32);
  }
  /// Whether the check bits of every word are right.
  bool verify() const noexcept;

private:
  std::atomic<std::uint64_t>& at(head_word word) const noexcept {
    return words_[static_cast<unsigned>(word)];
  }
  std::atomic<std::uint64_t>* words_ = nullptr;
};

} // namespace hearth::storage::disk
