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

/// How nodes are allocated; what `memory_stats::bytes_used` counts follows from it.
enum class node_layout : std::uint8_t {
  by_build, ///< packed, but each by itself under a sanitizer, which then sees a use after free
  packed,
  single, ///< each by itself
};

struct memory_index_options {
  std::uint64_t budget_bytes = 256u << 20; ///< payload, metadata and overhead
  std::size_t expected_entries = 1024;     ///< the table is made for that many
  node_layout layout = node_layout::by_build;
  charge_function charge = allocator_charge; ///< what an allocation counts
};

/// A key in memory: `hash` is `fast_hash(bytes, cache seed ^ process_seed())`, `cache` a small
/// number that the runtime gave to the named cache and version.
struct memory_key {
  std::uint32_t cache;
  std::string_view bytes;
  std::uint64_t hash;
};

struct memory_stats {
  std::uint64_t entries = 0;
  std::uint64_t bytes_used = 0; ///< payload, metadata, nodes, tables, what waits to be freed
  std::uint64_t budget_bytes = 0;
  std::uint64_t hits = 0, misses = 0, inserted = 0, evicted = 0, erased = 0, refused = 0;
};

class memory_index {
public:
  explicit memory_index(memory_index_options options = {});
  memory_index(const memory_index&) = delete;
  memory_index& operator=(const memory_index&) = delete;
  /// Handles that are still out stay valid.
  ~memory_index();

  // --- readers, any thread

  /// The artifact, or an empty one. No lock, no allocation (but for a thread's first read); a hit
  /// sets the hit bit when clear. An artifact kept for long is better copied: 320 a thread are
  /// held by slots, which cost nothing, the rest by counts.
  artifact get(const memory_key& key) const noexcept { return get(key.cache, key.bytes, key.hash); }
  /// The same. The parts stay in registers: a key that is put together in memory and read at once
  /// stalls the processor.
  [[gnu::always_inline]] artifact get(std::uint32_t cache, std::string_view bytes,
                                      std::uint64_t hash) const noexcept {
    return reader_.get(cache, bytes, hash);
  }
  /// Fetches into the processor's cache what `get` of this hash reads first.
  void prefetch(std::uint64_t hash) const noexcept { reader_.table().prefetch(hash); }
  /// Fetches what it reads next; for batches, when what `prefetch` asked for has come.
  void prefetch_entry(std::uint64_t hash, std::size_t key_size) const noexcept {
    reader_.table().prefetch_node(hash, key_size);
  }
  memory_stats stats() const noexcept;

  // --- owner

  /// The artifact, as `get` gives it, but neither counted nor taken for a hit.
  artifact peek(const memory_key& key) const;
  /// False when the key is there; nothing changes then. One larger than a fourth of the budget is
  /// refused (counted, true is returned as for one evicted at once).
  bool insert(const memory_key& key, const artifact& value);
  /// Inserts or replaces.
  void put(const memory_key& key, const artifact& value);
  /// Whether it was there.
  bool erase(const memory_key& key);
  /// Gives the entries of a cache a part of the budget of their own: they never take more, and
  /// other caches' entries never push them out. One larger than a fourth of it is refused. What
  /// the cache had before goes.
  void set_share(std::uint32_t cache, std::uint64_t bytes);
  /// Calls `visit(key bytes, artifact)` for each entry of a cache. It changes nothing here.
  void each(std::uint32_t cache,
            const std::function<void(std::string_view, const artifact&)>& visit) const;
  /// Drops everything.
  void clear();
  /// Frees what no reader holds any more, and goes on with a table that grows; to be called now and
  /// then by an idle owner.
  void reclaim();
  /// Whether `reclaim` may have something to do.
  bool has_leftovers() const noexcept;
  /// Called with (cache, key bytes) for entries hit since they came, batched for the disk tier's
  /// hit bits: at most `limit` a call, each entry once.
  void drain_first_hits(std::size_t limit,
                        const std::function<void(std::uint32_t, std::string_view)>& visit);

private:
  class implementation;

  std::unique_ptr<implementation> self_;
  index_reader& reader_; // its readers' half
};

} // namespace hearth::storage
