// The generations of a shard's index that this process has mapped. The newest is in use; older ones
// stay mapped until the shard closes, so that a reader can finish its search in one.
//
// Owner: a shard's files. Any thread reads, without a lock; the holder of the shard's lock makes
// new generations.
#pragma once

#include "storage/disk/head/head.hpp"
#include "storage/disk/index/index_table.hpp"

#include <atomic>
#include <cstdint>
#include <memory>

namespace hearth::storage::disk {

class index_generations {
public:
  /// `directory`: the shard's.
  index_generations(file_system& system, int directory, head_page head, std::uint64_t store_id,
                    bool read_only) noexcept
      : system_(system)
      , directory_(directory)
      , head_(head)
      , store_id_(store_id)
      , read_only_(read_only) {}
  index_generations(const index_generations&) = delete;
  index_generations& operator=(const index_generations&) = delete;
  ~index_generations();

  /// The generation that the head names; mapped now if it was not yet. Null: it cannot be mapped.
  index_table* current() noexcept {
    auto* index = newest();
    if (private_) return index;
    std::uint64_t generation = 0;
    if (!head_.load(head_word::generation, generation)) return nullptr;
    if (index && index->generation() == generation) [[likely]]
      return index;
    return map_current();
  }
  /// The newest mapped generation; null: none is mapped.
  index_table* newest() const noexcept { return newest_.load(std::memory_order_acquire); }
  /// Whether the index is in memory, for a reader that may not repair the one on disk.
  bool is_private() const noexcept { return private_ != nullptr; }

  /// The errno, or EBADMSG, with which mapping the generation that the head names fails; 0: it
  /// succeeds.
  int why_unmapped() const;
  /// Makes the file of a generation and maps it. Null: see `error`.
  std::unique_ptr<index_table> make(std::uint64_t generation, std::uint64_t buckets, int& error);
  /// Makes a table the current one, unless a newer one is current already. Returns the current one.
  index_table* adopt(std::unique_ptr<index_table> made) noexcept;
  /// Uses a table in memory from now on. Called only while the shard is being opened.
  void use_private(std::unique_ptr<index_table> made) noexcept;

private:
  index_table* map_current() noexcept;

  file_system& system_;
  const int directory_;
  const head_page head_;
  const std::uint64_t store_id_;
  const bool read_only_;
  std::atomic<index_table*> newest_{nullptr};
  std::unique_ptr<index_table> private_;
};

} // namespace hearth::storage::disk
