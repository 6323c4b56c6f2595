// One generation of a shard's index: a mapped file of 8-byte slots, in buckets of eight, shared by
// all processes. A key's slot is in one of two buckets, and stays where it is while it lives.
//
// Owner: a shard's index_generations. Any thread reads slots; only the holder of the shard's lock
// changes them, except for the hit bit, and for a reader that drops a damaged entry.
#pragma once

#include "messages/error.hpp"
#include "storage/disk/format.hpp"
#include "storage/disk/os/file_system.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

namespace hearth::storage::disk {

using slot = std::atomic<std::uint64_t>;

/// "index.7"
std::string index_name(std::uint64_t generation);

/// The number of buckets of a table for this many entries, with room for more.
constexpr std::uint64_t buckets_for(std::uint64_t entries) noexcept {
  constexpr std::uint64_t least = 512;
  constexpr std::uint64_t percent = 60; // share of the slots in use
  const auto wanted = entries * 100 / percent / slots_per_bucket + 1;
  return wanted < least ? least : wanted;
}

class index_table {
public:
  /// Makes the file of a generation, in place of a left-over one: empty, with all its blocks
  /// allocated. Returns 0 or an errno.
  static int create(file_system& files, int directory, std::uint64_t generation,
                    std::uint64_t store_id, std::uint64_t buckets);
  /// Maps a generation. Null: `error` is the errno, or EBADMSG when the file is not an index of
  /// this store.
  static std::unique_ptr<index_table> map(file_system& files, int directory,
                                          std::uint64_t generation, std::uint64_t store_id,
                                          bool writable, int& error);
  /// A table in memory, for a reader that may not repair the one on disk.
  static std::unique_ptr<index_table> in_memory(std::uint64_t buckets);

  std::uint64_t generation() const noexcept { return generation_; }
  std::uint64_t buckets() const noexcept { return buckets_; }
  std::uint64_t slots() const noexcept { return buckets_ * slots_per_bucket; }
  slot& at(std::uint64_t position) const noexcept { return slots_[position]; }
  std::uint64_t position_of(const slot* one) const noexcept {
    return static_cast<std::uint64_t>(one - slots_);
  }
  /// The two buckets that may hold a hash.
  std::array<slot*, 2> buckets_of(std::uint64_t hash) const noexcept {
    return {slots_ + slots_per_bucket * first_bucket(hash, buckets_),
            slots_ + slots_per_bucket * second_bucket(hash, buckets_)};
  }
  /// Brings both buckets into the cache, before a lookup of many hashes. It loads them: the
  /// processor drops a prefetch whose page is in no TLB, and buckets lie anywhere in the table.
  void touch(std::uint64_t hash) const noexcept {
    for (const slot* bucket : buckets_of(hash))
      static_cast<void>(bucket->load(std::memory_order_relaxed));
  }
  /// The slot that holds exactly this record (hit or not), or null.
  slot* find_exact(std::uint64_t hash, location where) const noexcept;
  /// A slot for a new entry, in the emptier of its buckets, for which `is_free(slot, value)` is
  /// true; or null.
  template <class IsFree>
  slot* find_free(std::uint64_t hash, IsFree is_free) const noexcept;

  /// The checksum of all slots, 48 bits.
  std::uint64_t sum() const noexcept;

  index_table* older = nullptr; ///< the next in the list of mapped generations

private:
  mapping file_;
  std::unique_ptr<slot[]> memory_;
  slot* slots_ = nullptr;
  std::uint64_t buckets_ = 0;
  std::uint64_t generation_ = 0;
};

template <class IsFree>
slot* index_table::find_free(std::uint64_t hash, IsFree is_free) const noexcept {
  slot* first[2] = {nullptr, nullptr};
  unsigned count[2] = {0, 0};
  const auto both = buckets_of(hash);
  for (unsigned side = 0; side < 2; ++side) {
    for (slot* one = both[side]; one < both[side] + slots_per_bucket; ++one) {
      if (!is_free(one, one->load(std::memory_order_relaxed))) continue;
      if (!first[side]) first[side] = one;
      ++count[side];
    }
  }
  return count[1] > count[0] ? first[1] : first[0];
}

} // namespace hearth::storage::disk
