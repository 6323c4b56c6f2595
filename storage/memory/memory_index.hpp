// The memory tier's index: one writer, reads by any thread without a lock.
//
// Owner: a memory_shard actor; it alone calls the functions under "owner". Any thread calls those
// under "readers". The scheme (buckets of one cache line, hazard slots, deferred freeing) is
// described in docs/memory-index.md.
#pragma once

#include "messages/artifact.hpp"
#include "messages/cache_id.hpp"
#include "storage/memory/allocator_charge.hpp"
#include "storage/memory/index_reader.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

namespace hearth::storage {

/// How nodes are allocated, which determines what `memory_stats::bytes_used` counts.
enum class node_layout : std::uint8_t {
  by_build, ///< packed; `single` under a sanitizer, which then detects a use after free
  packed,
  single, ///< one allocation a node
};

struct memory_index_options {
  std::uint64_t budget_bytes = 256u << 20; ///< payload, metadata and overhead
  std::size_t expected_entries = 1024;     ///< initial size of the table
  node_layout layout = node_layout::by_build;
  charge_function charge = allocator_charge; ///< the charge of an allocation
};

/// A key in memory: `hash` is `fast_hash(bytes, cache seed ^ process_seed())`, `cache` a small
/// number that the runtime assigned to the named cache and version.
struct memory_key {
  std::uint32_t cache;
  std::string_view bytes;
  std::uint64_t hash;
  lookup_counter hits{}; ///< what counts the hits of `get`; without one, the index does
};

struct memory_stats {
  std::uint64_t entries = 0;
  std::uint64_t bytes_used = 0; ///< payload, metadata, nodes (retired ones too), tables
  std::uint64_t budget_bytes = 0;
  std::uint64_t hits = 0; ///< those that no counter of the caller's took
  std::uint64_t misses = 0, inserted = 0, evicted = 0, erased = 0, refused = 0;
};

class memory_index {
public:
  explicit memory_index(memory_index_options options = {});
  memory_index(const memory_index&) = delete;
  memory_index& operator=(const memory_index&) = delete;
  /// Artifacts that callers still hold stay valid.
  ~memory_index();

  // --- readers, any thread

  /// The artifact, or an empty one. No lock, no allocation (except for a thread's first read); a
  /// hit sets the hit bit when it is clear. A caller should copy an artifact that it keeps for
  /// long: slots, which cost nothing, hold 320 a thread, reference counts hold the rest. An entry
  /// whose expiry has passed (messages/expiry.hpp) is a miss, here and for the owner.
  artifact get(const memory_key& key) const noexcept {
    return get(key.cache, key.bytes, key.hash, key.hits);
  }
  /// The same. The parts stay in registers: building a key in memory and reading it at once stalls
  /// the processor.
  [[gnu::always_inline]] artifact get(std::uint32_t cache, std::string_view bytes,
                                      std::uint64_t hash,
                                      const lookup_counter& hits = {}) const noexcept {
    return reader_.get(cache, bytes, hash, hits);
  }
  /// Prefetches the memory that `get` of this hash reads first.
  void prefetch(std::uint64_t hash) const noexcept { reader_.table().prefetch(hash); }
  /// Prefetches the memory that `get` reads next; for batches, once the first prefetch has
  /// completed.
  void prefetch_entry(std::uint64_t hash, std::size_t key_size) const noexcept {
    reader_.table().prefetch_node(hash, key_size);
  }
  memory_stats stats() const noexcept;

  // --- owner

  /// The same artifact as `get`, but without counting it or setting the hit bit.
  artifact peek(const memory_key& key) const;
  /// False when the key has an entry, which stays unchanged. Refuses an entry larger than a fourth
  /// of the budget (counts it and returns true, as for one that is evicted at once).
  bool insert(const memory_key& key, const artifact& value);
  /// Inserts or replaces.
  void put(const memory_key& key, const artifact& value);
  /// Returns whether the key had an entry.
  bool erase(const memory_key& key);
  /// Reserves a part of the budget for the entries of a cache: they never take more, and other
  /// caches' entries never evict them. An entry larger than a fourth of it is refused. The first
  /// call drops the entries that the cache had before.
  void set_share(std::uint32_t cache, std::uint64_t bytes);
  /// Calls `visit(key bytes, artifact)` for each entry of a cache. `visit` must not change the
  /// index.
  void each(std::uint32_t cache,
            const std::function<void(std::string_view, const artifact&)>& visit) const;
  /// Drops all entries.
  void clear();
  /// Frees nodes that no reader holds any more, and continues the growth of a table; an idle owner
  /// calls it from time to time.
  void reclaim();
  /// Whether `reclaim` may have work to do.
  bool has_leftovers() const noexcept;
  /// Calls `visit(cache, key bytes)` for entries that were hit since they were inserted, batched
  /// for the disk tier's hit bits: at most `limit` a call, each entry once.
  void drain_first_hits(std::size_t limit,
                        const std::function<void(std::uint32_t, std::string_view)>& visit);

private:
  class implementation;

  std::unique_ptr<implementation> self_;
  index_reader& reader_; // the readers' half
};

} // namespace hearth::storage
