// Hazard slots: how readers of the memory index keep the nodes that they found alive, without a
// lock and without writing to memory that another thread writes.
//
// Owner: the process; one registry, never destroyed. Each thread has a record of its own, made when
// it first reads and passed on when it ends. A thread writes the slots of its own record; dropping
// an artifact, on any thread, clears the slot that the artifact holds. Only owners of an index
// scan.
//
// The state lives in hazard.cpp and never in inline variables, so that a shared object that links
// Hearth privately gets a whole registry of its own and not half of one (docs/memory-index.md).
#pragma once

#include "messages/artifact.hpp"
#include "messages/tier.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace hearth::storage {

using hazard_slot = artifact::hazard_slot;

/// Publishes in `slot` that `pointer` is about to be used, then says whether `word` still holds
/// `expected`, the value from which `pointer` was read. When it does, a thread that later removes
/// the pointer from `word` (a seq_cst store) and then scans the slots sees it.
///
/// The exchange is a full fence between the publication and the second load: without it the
/// processor may load first (tests/storage/memory/litmus_test.cpp).
[[gnu::always_inline]] inline bool protect(hazard_slot& slot, const void* pointer,
                                           const std::atomic<std::uint64_t>& word,
                                           std::uint64_t expected) noexcept {
  slot.exchange(pointer, std::memory_order_seq_cst);
  return word.load(std::memory_order_seq_cst) == expected;
}

/// The slots and counters of one thread. Never freed: a thread that ends leaves its record to the
/// next thread, with the slots that artifacts still hold.
struct alignas(64) hazard_record {
  static constexpr unsigned slot_count = 320;
  static constexpr unsigned slots_tried = 8; ///< slots that one get tries; forty gets try all
  static constexpr unsigned tally_count = 128;

  /// Lookups by this thread, by the tier that answered: only the thread writes, any thread reads.
  using tally = std::array<std::atomic<std::uint64_t>, tier_count>;

  std::array<hazard_slot, slot_count> slots{};
  hazard_slot transient{};       ///< protects inside one get, until the count is taken
  unsigned cursor = 0;           ///< where the thread starts its search for a free slot
  std::atomic<bool> taken{true}; ///< whether a thread owns the record
  hazard_record* next = nullptr; ///< next in the list; fixed once the record is in it
  std::array<tally, tally_count> tallies{};

  /// A free slot of this thread, or null: then the caller takes a reference count.
  [[gnu::always_inline]] hazard_slot* free_slot() noexcept {
    for (unsigned tried = 0; tried < slots_tried; ++tried) {
      auto& slot = slots[cursor];
      // Acquire: another thread may have cleared the slot; its accesses happen before the reuse.
      if (!slot.load(std::memory_order_acquire)) [[likely]]
        return &slot;
      if (++cursor == slot_count) cursor = 0;
    }
    return nullptr;
  }

  /// Counts a lookup under this number, which is below `tally_count`. The owning thread alone.
  [[gnu::always_inline]] void count(unsigned number, tier from) noexcept {
    auto& counter = tallies[number][static_cast<std::size_t>(from)];
    counter.store(counter.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
};

class hazard_registry {
public:
  static hazard_registry& of_process() noexcept;

  /// A record that no other thread owns; null when memory is short.
  hazard_record* acquire() noexcept;
  void release(hazard_record& record) noexcept;

  /// Calls `visit` with every pointer that a slot names. A pointer that was removed from its word
  /// before (with seq_cst) and is not visited is not in use and cannot come into use.
  template <class Visit>
  void each_held(Visit&& visit) const;

  using tally_sums = std::array<std::uint64_t, tier_count>;

  /// A number under which records count lookups from zero; `tally_count` when all are in use.
  unsigned acquire_tally() noexcept;
  /// Every thread has counted for the last time under this number.
  void release_tally(unsigned number) noexcept;
  /// The sums of all threads under this number; zero for one that is none.
  tally_sums sum_tally(unsigned number) const noexcept;

  /// The number of records ever made: the maximum number of concurrent reader threads.
  std::size_t size() const noexcept;

private:
  unsigned take_tally() noexcept;

  std::atomic<hazard_record*> head_{nullptr};
  // One bit each.
  std::array<std::atomic<std::uint64_t>, hazard_record::tally_count / 64> tallies_taken_{};
};

template <class Visit>
void hazard_registry::each_held(Visit&& visit) const {
  const auto look = [&](const hazard_slot& slot) {
    if (const auto* pointer = slot.load(std::memory_order_seq_cst)) visit(pointer);
  };
  for (auto* record = head_.load(std::memory_order_seq_cst); record; record = record->next) {
    for (const auto& slot : record->slots)
      look(slot);
    look(record->transient);
  }
}

/// The pointers that the slots of all threads named at one time.
class hazard_scan {
public:
  /// Scans anew.
  void take();
  bool holds(const void* pointer) const noexcept;

private:
  std::vector<const void*> held_; // sorted
};

/// This thread's record, null before its first read and while it ends.
extern constinit thread_local hazard_record* this_thread_record [[gnu::tls_model("initial-exec")]];

/// Gives this thread a record. Null when memory is short, or when the thread ends and has given its
/// record back already (a destructor of a thread_local object reads).
hazard_record* enlist_this_thread() noexcept;

} // namespace hearth::storage
