// One shard of a store: its head, index and segments, in a directory of their own that all
// processes share.
//
// Owner: the store. Any thread calls `get`, `touch` and `epoch`, which take no lock. Everything
// else takes the shard's lock for as long as it needs it; `apply` is called by one thread at a
// time. In a forked child only reading works; the rest answers `forked`.
//
// The code lies in shard_open.cpp, shard_read.cpp, shard_write.cpp, shard_segments.cpp,
// shard_grow.cpp, shard_large.cpp, shard_recover.cpp, shard_room.cpp, shard_evict.cpp,
// shard_retire.cpp, shard_sync.cpp and shard_verify.cpp. The rule they share:
// the index is what the valid records of the segments make it, the highest sequence of a key wins.
#pragma once

#include "storage/disk/append_batch.hpp"
#include "storage/disk/clean_mark.hpp"
#include "storage/disk/counters.hpp"
#include "storage/disk/head.hpp"
#include "storage/disk/index_table.hpp"
#include "storage/disk/record.hpp"
#include "storage/disk/segment_scan.hpp"
#include "storage/disk/segment_windows.hpp"
#include "storage/disk/shard_lock.hpp"
#include "storage/disk/store.hpp"
#include "storage/disk/written_records.hpp"

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace hearth::storage::disk {

struct shard_config {
  file_system* files = nullptr;
  std::filesystem::path path; ///< for messages
  std::uint64_t store_id = 0;
  unsigned number = 0;
  unsigned shards = 1;
  std::uint64_t segment_bytes = 0;
  std::uint64_t budget_bytes = 0;       ///< of this shard
  std::uint64_t least_budget_bytes = 0; ///< when it follows the disk; else 0
  std::uint64_t most_budget_bytes = 0;  ///< when it follows the disk; else 0
  bool read_only = false;
  bool compress = false;
  /// Told that `catch_up` should be called soon; empty: the writer's thread calls it itself.
  std::function<void()> work_due;
  std::chrono::milliseconds lock_deadline{2000};
  std::uint64_t boot = 0; ///< 48 bits of the machine's present start
  bool was_clean = false; ///< the store's clean mark was there when it was opened
};

/// What the names of files end in that are not what they will be yet.
inline constexpr std::string_view temporary_suffix = ".tmp";

/// A request made ready outside the lock: its header but for sequence and seal, its bytes.
struct prepared_write {
  record_header header;
  std::string_view payload; ///< as it will be stored
  std::string compressed;
  bool large = false;
};

class shard {
public:
  /// Opens a shard, makes it when it is missing, and rebuilds its index when it cannot be trusted.
  /// `mark` and the files outlive it.
  static expected<std::unique_ptr<shard>> open(shard_config config, file directory,
                                               clean_mark& mark);
  ~shard();

  read_result get(const entry_key& key);
  void touch(const entry_key& key) noexcept;
  std::uint64_t epoch() const noexcept { return head_.get(head_word::epoch); }

  const std::atomic<std::uint64_t>& word_of_epoch() const noexcept {
    return head_.word(head_word::epoch);
  }

  /// Returns how often it moved the epoch.
  std::uint64_t apply(std::span<write_request> group);
  expected<void> flush();
  /// Evicts what is over the budget, if anything is.
  void catch_up();
  /// Syncs head and index too, for the clean mark.
  bool sync_index();
  expected<void> list(const std::function<bool(const entry_info&)>& visit, bool& go_on);
  void add_stats(store_stats& out) const;
  using step_callback = std::function<void(std::uint64_t bytes)>; ///< so many more are done
  expected<void> verify(bool repair, verify_report& report, const step_callback& step);
  /// Bytes of disk that it takes.
  std::uint64_t disk_bytes() const { return measure().bytes; }
  /// Evicts until at most `bytes` of disk are taken. Returns the bytes freed.
  expected<std::uint64_t> evict_to(std::uint64_t bytes, const step_callback& step);
  expected<void> clear();
  /// Whether the directory that the lock protects is still the one at its path.
  bool is_in_place() const noexcept;
  bool is_forked() const noexcept { return fork_generation() != born_; }

private:
  shard(shard_config config, file directory, clean_mark& mark);

  // -- opening (shard_open.cpp)
  expected<void> open_head();
  expected<file> make_head();
  expected<void> map_head(const file& head);
  expected<void> check_at_open();
  void adopt_boot() noexcept;
  bool was_here_before() const noexcept;

  // -- the lock and what comes with it (shard_write.cpp)
  class hold; // holds the lock
  expected<void> lock_for_writing(std::chrono::milliseconds deadline);
  error refusal() const;
  bool may_not_write() const noexcept { return config_.read_only || is_forked(); }

  // -- reading (shard_read.cpp)
  enum class outcome { match, other, changed, bad, unreadable };
  index_table* current_index() noexcept;
  index_table* map_index() noexcept;
  index_table* adopt_index(std::unique_ptr<index_table> made) noexcept;
  outcome read_header(segment_reader& from, location where, const entry_key& key,
                      record_header& header, std::string& scratch) noexcept;
  outcome read_value(segment_reader& from, location where, const record_header& header,
                     artifact& out) noexcept;
  outcome read_entry(std::uint64_t word, const entry_key& key, std::uint64_t oldest,
                     record_header& header, artifact* out, int* error = nullptr) noexcept;
  std::optional<read_result> try_get(const entry_key& key, index_table& index);
  read_result found(slot& one, std::uint64_t word, const record_header& header, artifact value);
  bool still_there(const index_table& index, const slot& one, std::uint64_t word) const noexcept;
  read_result drop_corrupt(slot& one, std::uint64_t word) noexcept;

  // -- writing (shard_write.cpp); all below with the lock held
  struct lookup {
    slot* where = nullptr;  // of the key's entry, or null
    std::uint64_t word = 0; // what it held
    record_header header{};
    int error = 0; // a record could not be read, so nobody knows
  };
  enum class stop { decided, full, must_roll, must_grow };
  void prepare(const write_request& request, prepared_write& out);
  error flaw_of(const write_request& request) const;
  lookup find_for_write(const entry_key& key) noexcept;
  void touch_index(std::span<const write_request> group) const noexcept;
  void apply_small(std::span<write_request> group, std::span<prepared_write> ready);
  std::size_t append_all(std::span<write_request> group, std::span<prepared_write> ready);
  stop plan(append_batch& work, write_request& request, prepared_write& ready, std::size_t number);
  stop plan_append(append_batch& work, const write_request& request, prepared_write& ready,
                   std::size_t number, const lookup& old);
  slot* claim_slot(const word_set& taken, std::uint64_t hash) noexcept;
  struct write_outcome {
    std::size_t complete = 0; // records that are published
    error why{};              // why not all of them are
  };
  write_outcome write_batch(append_batch& work);
  void commit(append_batch& work, std::span<write_request> group);
  void publish(std::span<const planned_record> items) noexcept;
  static std::uint64_t number_of_opening();
  std::string temporary_name(std::string_view what) const;
  void note_dropped() noexcept;
  void outdate_dropped() noexcept;
  void refuse(write_request& request, const error& why);
  expected<bool> make_way(stop reason, std::uint64_t hash);
  bool is_flooded() const noexcept;
  expected<void> drop_oldest_of(std::uint64_t hash);
  expected<void> open_active();
  expected<void> allocate_to(std::uint64_t end);
  expected<bool> roll();
  expected<void> begin_segment();
  expected<file> make_segment(std::uint64_t& number);
  expected<std::uint64_t> take_segment_number();
  segment_header header_of_segment(std::uint64_t number, bool large) const noexcept;
  expected<void> grow();
  bool has_room_to_grow() const noexcept;
  expected<void> resize_index(std::uint64_t buckets);
  int move_slots(const index_table& from, const index_table& to, std::uint64_t segment,
                 std::uint64_t& live) const;
  void shrink_index();
  std::uint64_t live_slots(const index_table& index) const noexcept;

  // -- values too large for a shared segment (shard_large.cpp)
  void apply_large(write_request& request, prepared_write& ready);
  expected<bool> decide_large(write_request& request, const prepared_write& ready);
  expected<file> make_large_file(const std::string& name, std::uint64_t bytes);
  expected<file> reserve_large_file(const std::string& name, std::uint64_t bytes);
  expected<void> write_large(const file& to, const write_request& request,
                             const prepared_write& ready);
  expected<void> publish_large(write_request& request, prepared_write& ready, file& written,
                               const std::string& name);
  void remove_abandoned();

  // -- recovery (shard_recover.cpp)
  struct survivor;
  expected<void> recover();
  expected<void> finish_pending();
  expected<void> apply_record(const record_header& header, const std::string& identity,
                              location where);
  bool write_hole(location start);
  expected<void> rebuild();
  expected<std::vector<survivor>> collect(const std::vector<std::uint64_t>& segments,
                                          bool trust_head, std::vector<location>& torn);
  bool is_wholly_synced(std::uint64_t segment, const segment_scan& scan) const;
  expected<void> take_out(const std::vector<location>& torn, bool durably);
  void keep_newest(std::vector<survivor>& all);
  bool same_key(location a, location b);
  expected<void> fill_index(const std::vector<survivor>& all, std::uint64_t generation);
  expected<void> rebuild_privately();

  // -- the budget (shard_room.cpp); without the lock
  struct disk_use {
    std::uint64_t bytes = 0;             // of everything
    std::uint64_t retired_bytes = 0;     // of segments below the oldest
    std::vector<std::uint64_t> segments; // ascending
  };
  struct room_request {
    std::uint64_t needed = 0; // what must fit into the budget
    std::uint64_t wanted = 0; // what whoever evicts makes fit
  };
  // What of an evicted segment is appended again.
  struct keep_rule {
    std::uint64_t below = 0;     // of segments below this number; 0: nothing
    std::uint64_t roomy = 0;     // what was not hit too, while so many bytes at most are live
    bool drop_when_full = false; // on a full disk the rest is dropped; else eviction is given up
    std::uint64_t until = ~std::uint64_t{0}; // segments from this number on stay
  };
  class evictor; // one at a time, of all processes
  disk_use measure() const;
  std::uint64_t budget(const disk_use& use) const noexcept;
  bool has_room(const disk_use& use, std::uint64_t bytes) const noexcept;
  bool is_bare(const disk_use& use) const noexcept;
  expected<void> make_room(room_request wanted);
  using use_test = std::function<bool(const disk_use&)>;
  expected<void> evict_while(const use_test& is_too_much, keep_rule rule);
  void evict_when_due();
  // What of a segment may be appended again.
  std::uint64_t copy_bytes() const noexcept { return roll_limit() / 2; }
  // What an eviction may take before it frees something: copies, blocks that are not full yet, and
  // the tables that segments get.
  std::uint64_t reserve_bytes() const noexcept { return copy_bytes() + roll_limit() / 4; }
  room_request room_to_roll() const noexcept {
    return {reserve_bytes(), reserve_bytes() + roll_limit()};
  }

  // -- evicting one segment (shard_evict.cpp); without the lock, unless it says so
  struct evicted_segment;
  struct copied_record;
  expected<void> evict_oldest(keep_rule rule);
  expected<std::uint64_t> choose_victim();
  expected<evicted_segment> look_at(std::uint64_t segment, keep_rule rule);
  void choose_kept(evicted_segment& one, bool is_roomy) const;
  expected<void> keep(evicted_segment& one);
  expected<void> keep_large(evicted_segment& one);
  expected<void> append_copies(evicted_segment& one, const std::vector<copied_record>& batch);
  void plan_copy(append_batch& work, const copied_record& record);
  bool is_replaced_unsynced(std::uint64_t hash) noexcept;
  bool sync_what_replaced(const evicted_segment& one);
  expected<void> retire(const evicted_segment& one, std::uint64_t epoch);

  // -- removing segments (shard_retire.cpp)
  bool may_remove() noexcept;                // with the lock
  int remove_segment(std::uint64_t segment); // with the lock
  void remove_retired_now();                 // with the lock
  expected<void> remove_retired();
  std::optional<record_header> large_record(std::uint64_t segment) const;
  bool is_dead_large(std::uint64_t segment);
  std::vector<std::uint64_t> find_dead_large();
  expected<void> remove_dead_large(const std::vector<std::uint64_t>& dead);

  // -- syncing (shard_sync.cpp)
  bool is_synced(location where) const noexcept;
  struct sync_job {
    location tail{};
    std::uint64_t next_segment = 0;
    location synced{};
    std::uint64_t synced_files = 0;
    std::uint64_t oldest = 0;
    bool directory = false;
    std::map<std::uint64_t, std::shared_ptr<file>> open; // what this process wrote itself
    std::uint64_t failed = 0;                            // segment that could not be synced

    bool is_done() const noexcept {
      return tail == synced && next_segment == synced_files && open.empty();
    }
  };
  sync_job begin_sync();
  expected<void> do_sync(sync_job& job) const;
  void end_sync(const sync_job& job);
  expected<void> sync_all();
  void note_sync_failure(std::uint64_t segment) noexcept;
  std::uint64_t failed_sync() noexcept; // with the lock

  // -- checking (shard_verify.cpp)
  struct check_state;
  struct segment_check;
  void check_segment(std::uint64_t segment, check_state& state);
  segment_check scan_segment(std::uint64_t segment, location end, check_state& state);
  bool is_gone(std::uint64_t segment) const;
  void take_in_news(check_state& state);
  void look_again_at_unindexed(check_state& state);
  void check_newest(check_state& state);
  void check_slots(check_state& state);
  expected<void> repair(check_state& state);
  bool is_right(std::uint64_t word) const;
  bool mend_header(std::uint64_t segment);
  bool zero(std::uint64_t segment, std::uint64_t begin, std::uint64_t end);
  bool describe(std::uint64_t word, entry_info& out);

  std::filesystem::path path_of(std::string_view name) const { return config_.path / name; }
  location tail() const noexcept { return head_.place(head_word::active); }
  std::uint64_t oldest() const noexcept { return head_.get(head_word::oldest); }
  std::uint64_t segment_limit() const noexcept {
    return config_.segment_bytes < max_segment_bytes ? config_.segment_bytes
                                                     : max_segment_bytes - unit_bytes;
  }
  /// Where this process leaves a segment for the next: the budget of another may be smaller than
  /// that of whoever made the store.
  std::uint64_t roll_limit() const noexcept { return roll_limit_; }
  std::uint64_t large_from() const noexcept { return roll_limit() / 4; }

  const shard_config config_;
  file_system& files_;
  clean_mark& mark_;
  const std::uint64_t born_; // fork generation
  const std::string head_path_;
  const std::uint64_t roll_limit_;
  std::uint64_t inode_ = 0; // of the head
  file directory_;
  mapping head_mapping_;
  head_page head_;
  std::unique_ptr<shard_lock> lock_; // null: read-only
  segment_windows windows_;
  std::atomic<index_table*> index_{nullptr};
  std::unique_ptr<index_table> private_index_; // of a reader that may not repair
  mutable counters counters_;
  // What a reader that cannot drop an entry has reported as corrupt.
  std::array<std::atomic<std::uint64_t>, 64> reported_{};

  std::mutex evictor_mutex_;
  std::atomic<bool> eviction_due_{false};
  std::atomic<bool> may_have_dead_large_{false};
  std::atomic<std::uint64_t> sync_failed_here_{0}; // segment; until the head says so too

  // With the lock held:
  std::shared_ptr<file> active_file_;                 // shared with a flush that is syncing it
  std::uint64_t active_segment_ = 0;                  // of active_file_
  std::uint64_t allocated_ = 0;                       // bytes of it that have blocks
  std::uint64_t epoch_moves_ = 0;                     // by `apply`
  const std::uint64_t opening_ = number_of_opening(); // of this open store alone
  // Segments that this process left before they were synced: an error of the system is told to
  // whoever had the file open.
  std::map<std::uint64_t, std::shared_ptr<file>> unsynced_;
  std::vector<std::uint64_t> to_seal_;
  written_records written_;
  bool directory_unsynced_ = false;
};

/// The right to evict, of one thread in all processes; given back when it goes out of scope.
/// Whoever does not get it need not evict: somebody else does.
class shard::evictor {
public:
  explicit evictor(shard& of) noexcept
      : of_(of) {}
  evictor(const evictor&) = delete;
  evictor& operator=(const evictor&) = delete;
  ~evictor();
  bool take() noexcept;
  bool is_taken() const noexcept { return taken_; }

private:
  shard& of_;
  bool taken_ = false;
};

/// The lock, held until it goes out of scope.
class shard::hold {
public:
  explicit hold(shard& of) noexcept
      : of_(&of) {}
  hold(hold&& other) noexcept
      : of_(std::exchange(other.of_, nullptr)) {}
  hold& operator=(hold&&) = delete;
  ~hold() { release(); }
  void release() noexcept {
    if (of_) of_->lock_->unlock();
    of_ = nullptr;
  }

private:
  shard* of_;
};

} // namespace hearth::storage::disk
