// One shard of a store: its head, index and segments, in a directory of their own that all
// processes share. This class puts the parts together:
//
//   files/   shard_files: the open files, which all parts share; disk_budget
//   read/    entry_reader: get and touch; entry_list
//   append/  active_segment, index_writer, index_growth: changes made with the lock held
//   repair/  recovery and index_rebuild; write_access: access to the lock; verification
//   sync/    syncer: makes writes survive a power loss
//   evict/   eviction: when and how much; segment_eviction: one segment; segment_removal: files
//   write/   group_writer and large_writer: apply
//
// A folder uses the ones above it, and os/, head/, segment/ and index/.
//
// Owner: the store. Any thread calls `get`, `touch` and `epoch`, which take no lock. All other
// functions take the shard's lock for as long as they need it; one thread at a time calls `apply`.
// In a forked child only reading works; other calls return `forked`.
#pragma once

#include "storage/disk/append/unfinished_segments.hpp"
#include "storage/disk/evict/eviction.hpp"
#include "storage/disk/files/disk_budget.hpp"
#include "storage/disk/files/shard_files.hpp"
#include "storage/disk/files/step_callback.hpp"
#include "storage/disk/read/entry_reader.hpp"
#include "storage/disk/repair/write_access.hpp"
#include "storage/disk/store.hpp"
#include "storage/disk/sync/syncer.hpp"
#include "storage/disk/write/group_writer.hpp"
#include "storage/disk/write/large_writer.hpp"

#include <functional>
#include <memory>
#include <span>

namespace hearth::storage::disk {

class shard {
public:
  /// Opens a shard, makes it when it is missing, and rebuilds its index when it cannot be trusted.
  /// `mark` and the file system outlive it.
  static expected<std::unique_ptr<shard>> open(shard_config config, file directory,
                                               clean_mark& mark);

  read_result get(const entry_key& key) { return entries_.get(key); }
  void touch(const entry_key& key) noexcept { entries_.touch(key); }
  void note_unpersisted() noexcept {
    if (!files_.config.read_only) files_.note_unpersisted();
  }
  std::uint64_t epoch() const noexcept { return files_.epoch(); }
  /// The word of the head whose upper 48 bits are the epoch.
  const std::atomic<std::uint64_t>& word_of_epoch() const noexcept {
    return files_.head.word(head_word::epoch);
  }

  /// Applies a group. Returns how often it moved the epoch.
  std::uint64_t apply(std::span<write_request> group) { return group_writer_.apply(group); }
  expected<void> flush();
  /// Evicts down to the budget, if a writer requested it.
  void catch_up() { eviction_.catch_up(); }
  /// Syncs head and index, for the clean mark.
  bool sync_index() { return syncer_.sync_index(); }

  /// Calls `visit` for each entry until it returns false; then sets `go_on` to false.
  expected<void> list(const std::function<bool(const entry_info&)>& visit, bool& go_on);
  /// One step of `store::scan`; nothing at the shard's end.
  expected<std::optional<scan_place>> scan(const scan_place& from,
                                           const std::function<bool(const entry_info&)>& visit);
  void add_stats(store_stats& out) const;
  /// Bytes of disk that the shard takes.
  std::uint64_t disk_bytes() const { return space_.measure().bytes; }
  /// Checks every record and slot, and adds the findings to `report`. `repair`: drops damaged ones.
  expected<void> verify(bool repair, verify_report& report, const step_callback& step);
  /// Drops expired entries, then evicts until at most `bytes` of disk are taken. Returns the bytes
  /// freed.
  expected<std::uint64_t> evict_to(std::uint64_t bytes, const step_callback& step);
  expected<void> clear() { return eviction_.clear(); }
  /// Whether the directory that the lock protects is still the one at its path.
  bool is_in_place() const noexcept { return files_.opened_head.is_in_place(); }

private:
  explicit shard(std::unique_ptr<shard_files> files);
  expected<void> check_at_open();
  void adopt_boot() noexcept;
  bool was_here_before() const noexcept;
  expected<void> drop_expired();

  const std::unique_ptr<shard_files> owned_files_;
  shard_files& files_;
  disk_budget space_;
  entry_reader entries_;
  unfinished_segments unfinished_;
  index_writer index_;
  index_growth growth_;
  active_segment active_;
  index_rebuild rebuild_;
  recovery recovery_;
  write_access access_;
  syncer syncer_;
  segment_removal removal_;
  segment_eviction segment_eviction_;
  eviction eviction_;
  large_writer large_writer_;
  group_writer group_writer_;
};

} // namespace hearth::storage::disk
