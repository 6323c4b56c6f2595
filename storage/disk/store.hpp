// The disk tier's store: one directory that several processes share without a daemon.
//
// Owner: the runtime opens one `store` a process and directory. Any thread reads (`get`, `touch`,
// `epoch`); each shard is written by one thread at a time (its disk_shard actor). One thread a
// lease table (a memory_shard actor) takes and releases leases.
#pragma once

#include "messages/artifact.hpp"
#include "messages/cache_id.hpp"
#include "messages/cache_key.hpp"
#include "messages/error.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hearth::storage {

class change_journal;
class file_system; // the seam through which tests inject faults; null means the real one

/// The timer of the background thread, which evicts and syncs. Tests advance one by hand.
class sync_timer {
public:
  virtual ~sync_timer() = default;
  /// Returns true when `interval` has passed, false after `wake`, even one before this call.
  virtual bool wait(std::chrono::milliseconds interval) = 0;
  /// Any thread.
  virtual void wake() noexcept = 0;
};

/// How a store is opened. Zero selects the default.
struct store_options {
  std::filesystem::path directory; ///< made, private to the user, when missing
  /// Bytes of disk that the store may take; during an eviction, one segment a shard more. Default
  /// 10 GiB, never more than a tenth of the sum of the free space and the store's size. Each shard
  /// has an equal part; a value larger than about three quarters of a part is refused.
  std::uint64_t budget_bytes = 0;
  std::uint64_t segment_bytes = 0; ///< in a new store; default budget/shards/8, 1 to 64 MiB
  unsigned shards = 0;             ///< in a new store; default 4, never more than cores
  bool read_only = false;          ///< writes are refused, no file is made
  bool compress = false;           ///< zstd each value that becomes smaller by it
  bool guard_sigbus = false;       ///< install the handler that turns SIGBUS into a miss
  std::chrono::milliseconds lock_deadline{2000}; ///< how long a writer waits for another process
  /// Zero: no background thread; the store syncs only in flush(), and writers evict themselves.
  std::chrono::milliseconds sync_interval{5000};
  /// False: closing syncs only if nobody has for a minute. For processes that end after one entry
  /// of which no power loss matters: syncing takes longer than what they do.
  bool syncs_when_closed = true;
  std::shared_ptr<sync_timer> timer; ///< null: the clock
  file_system* files = nullptr;
};

/// A key with the cache it belongs to, hashed: `fast_hash(bytes, cache.seed())`.
struct entry_key {
  entry_key(const cache_id& c, std::string_view key_bytes) noexcept;
  entry_key(const cache_id& c, std::string_view key_bytes, std::uint64_t known_hash) noexcept
      : cache(&c)
      , bytes(key_bytes)
      , hash(known_hash) {}

  explicit entry_key(const cache_key& key) noexcept
      : entry_key(key.cache->id, key.bytes, key.disk_hash) {}

  const cache_id* cache;
  std::string_view bytes; ///< canonical msgpack
  std::uint64_t hash;
};

enum class read_status : std::uint8_t {
  hit,
  miss,
  corrupt,    ///< the checksum of the entry failed: reported once, then a miss
  unreadable, ///< no descriptor, no address space, SIGBUS: counted; treat as a miss
};

struct read_result {
  read_status status = read_status::miss;
  artifact value{};           ///< set on a hit
  std::uint64_t sequence = 0; ///< the number of the entry's record, set on a hit
};

/// The error for an entry of `cache` that read as `corrupt`.
error corrupt_entry(const cache_id& cache);

enum class write_kind : std::uint8_t {
  insert,
  put,
  erase,
  swap,   ///< a put, if the entry is still the one that the writer has read
  expire, ///< an erase, if the entry has expired
};

/// Whether such a write removes the entry.
constexpr bool erases(write_kind kind) noexcept {
  return kind == write_kind::erase || kind == write_kind::expire;
}

enum class write_status : std::uint8_t {
  inserted,  ///< insert: the entry is new
  exists,    ///< insert: the key has an entry; nothing changed
  stored,    ///< put, swap: the entry is stored
  overtaken, ///< swap: the entry is another one; insert, put: it was changed since; nothing changed
  erased,    ///< erase: the key had an entry; expire: it had an expired one
  absent,    ///< erase, expire: it had none
  failed,    ///< nothing changed; `why` says why
};

/// One write of a group. `value` and `key` stay alive until `apply` returns.
struct write_request {
  write_kind kind;
  entry_key key;
  artifact value{}; ///< unused for erase and expire
  /// Real time in ms after which it is a miss; 0: that of the value (messages/expiry.hpp).
  std::int64_t expires_unix_ms = 0;
  bool compress = false; ///< zstd it, if that makes it smaller, even without the store option
  /// For swap: the `sequence` that a read returned, 0 for a miss.
  std::uint64_t read_sequence = 0;
  /// For an insert of a copy from another tier: it counts only if this journal, which stays alive
  /// until `apply` returns, knows of no later change of the entry than this one. Null: always.
  const change_journal* journal = nullptr;
  std::uint64_t last_change = 0;
  write_status status = write_status::failed;
  error why{};
};

/// One entry as `list` and `scan` return it.
struct entry_info {
  std::string cache;
  std::string version;
  std::string key;      ///< canonical msgpack
  std::string metadata; ///< empty although `metadata_bytes` is not: it is damaged
  std::uint64_t metadata_bytes;
  std::uint64_t payload_bytes; ///< before compression
  std::uint64_t stored_bytes;  ///< size of the record on disk
  std::int64_t expires_unix_ms;
  std::uint64_t sequence;
  unsigned shard;
};

/// Where a scan goes on: behind the buckets of a shard's index that it has looked at. The default
/// is the beginning.
struct scan_place {
  unsigned shard = 0;
  std::uint16_t generation = 0; ///< of the index, its lowest bits
  std::uint64_t bucket = 0;     ///< the next one
  friend bool operator==(const scan_place&, const scan_place&) = default;
};

/// The result of `stats`. Counters count this process's events since it opened the store.
struct store_stats {
  std::uint64_t entries = 0, live_bytes = 0, disk_bytes = 0, index_bytes = 0, segments = 0;
  std::uint64_t budget_bytes = 0;
  std::uint64_t hits = 0, misses = 0, corrupt = 0, unreadable = 0, expired = 0;
  std::uint64_t inserted = 0, existed = 0, put = 0, erased = 0, failed = 0;
  std::uint64_t evicted = 0, kept_by_hit = 0, rebuilds = 0, groups = 0;
};

/// Called from time to time with the bytes that are done, of `all`.
using progress_callback = std::function<void(std::uint64_t done, std::uint64_t all)>;

/// The result of `verify`.
struct verify_report {
  std::uint64_t records = 0, bytes = 0, damaged = 0, unindexed = 0, dangling = 0, repaired = 0;
  std::vector<std::string> findings; ///< a line each, at most 1,000
  bool intact() const { return damaged == 0 && dangling == 0; }
};

/// What a holder does under its lease.
enum class lease_stage : std::uint8_t { checking, compiling, storing };

/// The last sign of life of a lease's holder.
struct lease_holder {
  std::uint32_t process = 0; ///< its id, as the holder sees it
  std::uint32_t beats = 0;   ///< since it took the lease
  lease_stage stage = lease_stage::checking;
  friend bool operator==(const lease_holder&, const lease_holder&) = default;
};

/// Compile leases across processes: exclusive byte ranges of the store's lease file, held by one
/// open file description. One owner thread each; a process that dies loses all of its leases. A
/// process that is stopped keeps them, but its beats stop.
class lease_table {
public:
  virtual ~lease_table() = default;
  /// True when this table now holds the lease for `hash`. False: another table, in this or another
  /// process, holds it, or this one holds it for a colliding key. Never waits.
  virtual expected<bool> try_acquire(std::uint64_t hash) = 0;
  /// Releases the lease; does nothing when this table does not hold it.
  virtual void release(std::uint64_t hash) = 0;
  /// Shows other processes that the holder lives. Does nothing when this table does not hold the
  /// lease, and when the file cannot be written.
  virtual void beat(std::uint64_t hash, lease_stage stage) = 0;
  /// The last beat for this lease. Empty: no beat yet. Errors: those of reading the file.
  virtual expected<std::optional<lease_holder>> holder(std::uint64_t hash) const = 0;
};

/// Points at the word whose upper 48 bits are a shard's epoch. When the store has to reopen its
/// directory it points at another word; the former one stays readable as long as the store lives.
struct epoch_place {
  std::atomic<const std::atomic<std::uint64_t>*> word{nullptr};

  std::uint64_t epoch() const noexcept {
    return word.load(std::memory_order_acquire)->load(std::memory_order_acquire) >> 16;
  }
};

class store {
public:
  /// Opens or makes the store. Errors: `unsupported` (network file system, another format),
  /// `permission` (another user owns it, no rights, a symbolic link), `io`, `no_space`.
  static expected<std::unique_ptr<store>> open(store_options options);
  virtual ~store() = default;

  virtual unsigned shards() const noexcept = 0;
  /// The shard that keeps this key.
  virtual unsigned shard_of(std::uint64_t hash) const noexcept = 0;

  /// Looks one key up. Any thread; no lock, no message. Copies the bytes out and verifies them.
  virtual read_result get(const entry_key& key) = 0;
  /// Sets the hit bit of an entry (a hit in the memory tier), without reading it. Any thread.
  virtual void touch(const entry_key& key) noexcept = 0;
  /// Says that this process holds an entry of this shard in memory that is not in the store: the
  /// next write of a missing entry by any process then moves the shard's epoch. Any thread.
  virtual void note_unpersisted(unsigned shard) noexcept = 0;
  /// A number that moves whenever a put or an erase, in any process, may have changed an entry of
  /// this shard. Any thread.
  virtual std::uint64_t epoch(unsigned shard) const noexcept = 0;
  /// The place of `epoch(shard)` in memory, for readers that cannot afford the call. Any thread.
  virtual const epoch_place& place_of_epoch(unsigned shard) const noexcept = 0;

  /// Applies a group in order, under one lock, to one shard: all keys must belong to it. One thread
  /// a shard at a time. Fills in `status` and `why` of each; returns when the writes are visible to
  /// every process and survive a kill of this one. Returns how often this call itself moved the
  /// shard's epoch.
  virtual std::uint64_t apply(unsigned shard, std::span<write_request> group) = 0;

  /// Makes all writes acknowledged so far, by any process, survive a power loss. Any thread.
  virtual expected<void> flush() = 0;

  /// A table of leases with a file description of its own.
  virtual expected<std::unique_ptr<lease_table>> open_leases() = 0;

  /// Calls `visit` for each live entry until it returns false; other threads and processes may
  /// write meanwhile.
  virtual expected<void> list(const std::function<bool(const entry_info&)>& visit) = 0;
  /// A part of a scan of all entries: calls `visit` for the live entries of the next buckets, and
  /// ends behind the bucket for one of whose entries it returned false, or behind 4,096 buckets.
  /// Returns where the next call goes on, nothing at the end. Any thread; nothing is kept between
  /// calls, and others may write meanwhile. An entry that is in the store from the scan's beginning
  /// to its end is visited at least once; when a shard's index grows, its entries are visited
  /// again.
  virtual expected<std::optional<scan_place>>
  scan(const scan_place& from, const std::function<bool(const entry_info&)>& visit) = 0;
  virtual store_stats stats() const = 0;
  /// Reads and checks every record and slot. With `repair` drops damaged ones.
  virtual expected<verify_report> verify(bool repair, const progress_callback& progress = {}) = 0;
  /// Drops expired entries, then evicts, oldest segments first, until the store takes at most
  /// `bytes` of disk, or its minimum size. Keeps entries that were hit if possible, and all others
  /// if they take at most half of `bytes`. Returns the bytes freed. Not while another thread
  /// applies a group.
  virtual expected<std::uint64_t> evict_to(std::uint64_t bytes,
                                           const progress_callback& progress = {}) = 0;
  /// Drops every entry.
  virtual expected<void> clear() = 0;

  /// A journal of what this process changes here and a fleet has not heard of (server and prefix).
  /// The store outlives it. Refused for a read-only store.
  virtual expected<std::unique_ptr<change_journal>> open_journal(std::string_view fleet) = 0;

  /// Tells this store apart from all others, also from its copies on other hosts.
  virtual std::uint64_t id() const noexcept = 0;
  /// How far the store's processes have read the log of a fleet's purges, as they noted it; empty
  /// when they did not, or when it cannot be read. Any thread.
  virtual std::string fleet_mark() const = 0;
  /// Notes it, for this and every later process. At most 4,096 bytes. Any thread.
  virtual expected<void> set_fleet_mark(std::string_view mark) = 0;
};

} // namespace hearth::storage
