// The readers' half of a memory index: the table where they begin, and the state that they write.
//
// Owner: the index, which sets the first table and collects what readers recorded. Any thread calls
// `get`. Inlined into its callers: nearly every hit needs no call.
#pragma once

#include "messages/artifact.hpp"
#include "storage/memory/bucket_table.hpp"
#include "storage/memory/hazard.hpp"
#include "storage/memory/lookup_tally.hpp"
#include "storage/memory/node.hpp"

#include <atomic>
#include <cstdint>
#include <string_view>

namespace hearth::storage {

class index_reader {
public:
  index_reader() = default;
  index_reader(const index_reader&) = delete;
  index_reader& operator=(const index_reader&) = delete;

  // --- readers, any thread

  /// The artifact, or an empty one; see `memory_index::get`.
  [[gnu::always_inline]] artifact get(std::uint32_t cache, std::string_view bytes,
                                      std::uint64_t hash, const lookup_counter& hits) noexcept;
  const bucket_table& table() const noexcept { return *table_.load(std::memory_order_acquire); }
  struct hit_counts {
    std::uint64_t hits = 0;
    std::uint64_t misses = 0;
  };
  /// The misses of all threads, and the hits that no counter of the caller's took.
  hit_counts counts() const noexcept;

  // --- owner

  /// Sets the table where readers begin from now on.
  void begin_at(bucket_table& table) noexcept { table_.store(&table, std::memory_order_release); }
  /// Removes and returns the nodes that were hit for the first time since the last call, linked by
  /// `next_first_hit`.
  node* take_first_hits() noexcept {
    return first_hits_.exchange(nullptr, std::memory_order_acquire);
  }

private:
  [[gnu::noinline]] artifact search(std::uint32_t cache, std::string_view bytes, std::uint64_t hash,
                                    const lookup_counter& hits) noexcept;
  artifact search(hazard_record& record, std::uint32_t cache, std::string_view bytes,
                  std::uint64_t hash, const lookup_counter& hits) noexcept;
  node* find(std::uint32_t cache, std::string_view bytes, std::uint64_t hash,
             hazard_slot& slot) noexcept;
  static bool is_marked(const node& n) noexcept {
    return (n.hit.load(std::memory_order_relaxed) & node::hit_lately) != 0;
  }
  void mark(node& n) noexcept;
  [[gnu::always_inline]] void count_hit(hazard_record& record, const lookup_counter& hits) noexcept;
  void count_here(hazard_record& record, tier from) noexcept;

  // On a cache line of its own; changes only when a table grows.
  alignas(64) std::atomic<bucket_table*> table_{nullptr};
  hazard_registry& registry_ = hazard_registry::of_process();
  const lookup_tally tally_;

  // Readers write these: the list of nodes hit for the first time, and counters, by tier, for an
  // index without a tally.
  alignas(64) std::atomic<node*> first_hits_{nullptr};
  std::array<std::atomic<std::uint64_t>, tier_count> shared_{};
};

// The path of nearly every hit: no loop over buckets and no call, so that no register is saved. Any
// other case starts over with the full search.
inline artifact index_reader::get(std::uint32_t cache, std::string_view bytes, std::uint64_t hash,
                                  const lookup_counter& hits) noexcept {
  auto* const record = this_thread_record;
  auto* const slot = record ? record->free_slot() : nullptr;
  if (slot) [[likely]] {
    const auto* const found = table().find_first(hash, cache, bytes, *slot);
    if (found && is_marked(*found)) [[likely]] {
      count_hit(*record, hits);
      return artifact::protect(found->body, slot);
    }
    slot->store(nullptr, std::memory_order_release);
  }
  return search(cache, bytes, hash, hits);
}

inline void index_reader::count_hit(hazard_record& record, const lookup_counter& hits) noexcept {
  if (hits.tally < hazard_record::tally_count) [[likely]]
    record.count(hits.tally, tier::memory);
  else if (hits.shared)
    hits.shared[static_cast<std::size_t>(tier::memory)].fetch_add(1, std::memory_order_relaxed);
  else
    count_here(record, tier::memory);
}

} // namespace hearth::storage
