// A shard's files as this process has them open: the state that all parts of a shard share. It is
// passive: the parts read and change it by the rules of docs/store-format.md.
//
// Owner: the shard. Any thread reads the head, the index and mapped segments, without a lock. Only
// the holder of `lock` stores into the head and the index, and makes, changes and removes files;
// three stores are allowed without it: the hit bit of a slot, the drop of a damaged entry, and the
// two words of the head that announce the drop (`index_stale`, `dropped`).
#pragma once

#include "messages/error.hpp"
#include "storage/disk/files/clean_mark.hpp"
#include "storage/disk/files/counters.hpp"
#include "storage/disk/files/shard_config.hpp"
#include "storage/disk/head/head.hpp"
#include "storage/disk/head/head_file.hpp"
#include "storage/disk/head/shard_lock.hpp"
#include "storage/disk/index/index_generations.hpp"
#include "storage/disk/segment/segment_windows.hpp"

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace hearth::storage::disk {

class shard_files {
public:
  /// Opens the head, and makes it when it is missing. Does not check the head's words. `mark` and
  /// the file system outlive the shard.
  static expected<std::unique_ptr<shard_files>> open(shard_config config, file directory,
                                                     clean_mark& mark);

  const shard_config config;
  file_system& system;
  clean_mark& mark;
  /// A random number, different for each opened store. It is neither of the values of
  /// `head_word::dropped` that name no opened store.
  const std::uint64_t opening_id;
  const file directory;
  const head_file opened_head;
  head_page head;                         ///< view of `opened_head`
  const std::unique_ptr<shard_lock> lock; ///< null: read-only
  segment_windows windows;
  index_generations index;
  counters counts;

  // Work that one part leaves for another.
  std::atomic<bool> eviction_due{false};
  std::atomic<bool> may_have_dead_large{false}; ///< a large value was replaced or erased

  /// The place of the next record.
  location tail() const noexcept { return head.place(head_word::active); }
  /// The lowest segment that counts; those below it are evicted.
  std::uint64_t oldest() const noexcept { return head.get(head_word::oldest); }
  std::uint64_t epoch() const noexcept { return head.get(head_word::epoch); }
  void move_epoch() noexcept { head.set(head_word::epoch, epoch() + 1); }
  /// Notes that an entry is dropped without an erase: memory tiers may still hold it.
  void note_dropped() noexcept { head.set(head_word::dropped, all_may_hold); }
  /// Notes that this process's memory tier holds an entry that is not stored.
  void note_unpersisted() noexcept { head.set(head_word::unpersisted, all_may_hold); }
  /// Whether the head is whole and belongs to this store.
  bool is_head_usable() const noexcept {
    return head.verify() && head.store_id() == config.store_id;
  }

  /// This process begins the next segment before the active one grows above this size. The segments
  /// of one store differ in size when the budgets of its processes differ.
  std::uint64_t roll_limit() const noexcept { return roll_limit_; }
  /// Records above this size have a segment of their own.
  std::uint64_t large_from() const noexcept { return roll_limit_ / 4; }
  /// No record of a shared segment ends above this offset.
  std::uint64_t segment_limit() const noexcept {
    return config.segment_bytes < max_segment_bytes ? config.segment_bytes
                                                    : max_segment_bytes - unit_bytes;
  }

  bool is_forked() const noexcept { return fork_generation() != born_; }
  bool notes_hits() const noexcept { return !config.read_only || config.notes_hits; }
  bool is_writable() const noexcept { return !config.read_only && !is_forked(); }
  /// The error for a write when the shard is not writable.
  error refusal() const;
  error unmapped_index() const;

  /// What windows and scans need to know about the segments.
  const segment_place& place() const noexcept { return windows.place(); }
  std::filesystem::path path_of(std::string_view name) const { return config.path / name; }
  std::filesystem::path path_of_segment(std::uint64_t segment) const {
    return path_of(segment_name(segment));
  }
  std::vector<std::string> names() const;
  /// Opens a file of this shard; `flags` as for open(2).
  file open_file(const std::string& name, int flags) const noexcept;
  /// Returns 0 or minus an errno.
  int remove(const std::string& name) const noexcept {
    return system.remove_at(directory.get(), name.c_str());
  }

private:
  shard_files(shard_config with, file in, clean_mark& marked_by, head_file of,
              std::unique_ptr<shard_lock> locked_by, std::uint64_t id);

  const std::uint64_t born_; // fork generation at the opening
  const std::uint64_t roll_limit_;
};

/// Whether an error concerns this process and not the file: no more descriptors, memory or rights.
bool is_process_error(int error) noexcept;

} // namespace hearth::storage::disk
