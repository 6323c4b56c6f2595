// Changes the slots of the current index: finds or claims the slot of a key, and makes new records
// visible.
//
// Owner: a shard. Only the holder of the shard's lock uses it.
#pragma once

#include "storage/disk/append/append_batch.hpp"
#include "storage/disk/files/shard_files.hpp"
#include "storage/disk/read/entry_reader.hpp"

#include <cstdint>
#include <span>

namespace hearth::storage::disk {

/// What a writer finds for a key.
struct found_entry {
  slot* where = nullptr;  ///< slot of the key's entry; null: the key has no entry
  std::uint64_t word = 0; ///< the slot's value
  record_header header{};
  int error = 0; ///< errno; not 0: a record could not be read, so the entry is unknown

  bool is_live(std::int64_t now_ms) const noexcept {
    return where && !is_expired(header.expires_unix_ms, now_ms);
  }
};

class index_writer {
public:
  index_writer(shard_files& files, entry_reader& entries) noexcept
      : files_(files)
      , head_(files.head)
      , generations_(files.index)
      , entries_(entries) {}

  found_entry find(const entry_key& key) noexcept;
  /// A free slot for a new entry, not one of `taken`. Null: both buckets of the hash are full.
  slot* claim(const word_set& taken, std::uint64_t hash) noexcept;
  /// Stores the slots of the written records, then the head's words about the index, and moves the
  /// epoch if an entry was replaced.
  void publish(std::span<const planned_record> items) noexcept;
  /// Called before a write or erase of a key without an entry: moves the epoch if another process's
  /// memory may hold an entry that was dropped, or, unless it is an insert, one that was not
  /// stored.
  void outdate_missing(write_kind by) noexcept {
    if (is_elsewhere(head_word::dropped)) outdate_dropped_elsewhere();
    if (by != write_kind::insert && is_elsewhere(head_word::unpersisted))
      outdate_unpersisted_elsewhere();
  }
  /// The number of times that this process moved the epoch by writing.
  std::uint64_t epoch_moves() const noexcept { return epoch_moves_; }

private:
  bool is_elsewhere(head_word which) const noexcept {
    const auto holder = head_.get(which);
    return holder != nobody_holds && holder != files_.opening_id;
  }
  void outdate_dropped_elsewhere() noexcept;
  void outdate_unpersisted_elsewhere() noexcept;

  shard_files& files_;
  head_page head_; // the head of files_
  index_generations& generations_;
  entry_reader& entries_;
  std::uint64_t epoch_moves_ = 0;
};

} // namespace hearth::storage::disk
