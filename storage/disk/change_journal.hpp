// The changes of a host that the fleet has not heard of: entries that were put or erased here, and
// of which the remote tier has no acknowledgement. The record outlives the process that made it, so
// that a server that was away does not bring back what it still holds. It also tells in which order
// the processes of the host have changed an entry.
//
// Owner: the runtime; one journal a process, store and fleet. Any thread.
#pragma once

#include "messages/artifact.hpp"
#include "messages/cache_key.hpp"
#include "messages/error.hpp"
#include "storage/disk/os/fork_watch.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace hearth::storage {

/// An entry that was put or erased, or a whole cache of which more entries were changed than a
/// journal keeps.
struct unheard_change {
  enum class kind : std::uint8_t { erase, put, whole_cache };
  kind what = kind::erase;
  std::string cache;
  std::string version;
  std::string key;         ///< its msgpack bytes; empty for a whole cache
  std::uint64_t value = 0; ///< for a put: `hash_of_value`, or 0: any value that the store holds
  friend bool operator==(const unheard_change&, const unheard_change&) = default;
};

class change_journal {
public:
  /// The bounds of what one process notes; beyond them it notes whole caches.
  static constexpr std::size_t max_changes = 10'000;
  static constexpr std::size_t max_bytes = std::size_t{4} << 20;

  using number = std::uint64_t;
  /// Which caches' changes a journal notes; empty: all.
  using cache_filter = std::function<bool(const cache_id&)>;
  /// Another journal of this process, of another fleet.
  struct companion {
    std::shared_ptr<change_journal> journal;
    cache_filter takes;
  };
  /// A change that was noted, and whether that will outlive this process.
  struct noted {
    number which = 0;
    expected<void> kept;
  };
  /// A change with its number.
  struct numbered_change {
    number which = 0;
    unheard_change change;
    /// `id` of that of the process that made it; 0: it has another number here.
    std::uint64_t journal = 0;
    std::uint64_t holder = 0; ///< `id` of that in which it was found
    /// The fleet has heard of a later change of the entry. But its process ended before it knew
    /// whether the server has this one, which may have come last there.
    bool was_passed = false;
  };
  /// What the journals of other processes hold, each sorted.
  struct looked {
    /// Of processes that have ended: this process's from now on, with their numbers. A change of an
    /// entry that this process or another living one has changed later is left out, and one that
    /// was told itself; an earlier change by this process counts no more. One that the host may
    /// have changed since is a put of any value.
    std::vector<numbered_change> taken_over;
    std::vector<numbered_change> others; ///< of other processes
    bool is_whole = true;                ///< false: some of it cannot be read now
  };

  /// A journal in memory, for a process without a store.
  change_journal() = default;
  /// A journal in this open folder, `path`, which stays open longer. `fleet`: the server and
  /// prefix; journals of other fleets are not looked at. `opening_id`: the random number of this
  /// opening.
  static expected<std::unique_ptr<change_journal>> open(file_system& files, int folder,
                                                        std::filesystem::path path,
                                                        std::string_view fleet,
                                                        std::uint64_t opening_id);
  change_journal(const change_journal&) = delete;
  change_journal& operator=(const change_journal&) = delete;
  ~change_journal();

  /// A random number, which no other process's journal has. With it a change's number is unique:
  /// they may begin anew after a power loss. 0 without a store.
  std::uint64_t id() const noexcept { return opening_id_; }
  /// The number of the last change by any process of the host, 1 before the first; 0 without a
  /// store.
  number last() const noexcept;
  /// A number that moves whenever a process of the host has noted a change.
  std::uint64_t written() const noexcept;
  /// Whether a process of the host has changed this entry, or one of a few others, after the change
  /// with this number, or has noted again what this fleet is to be told of it.
  bool is_overtaken(const cache_key& key, number which) const noexcept {
    return is_overtaken(key.disk_hash, which);
  }
  /// As above, by the hash of the entry.
  bool is_overtaken(std::uint64_t hash, number which) const noexcept;
  /// As above, for any of the fleets for which `note` notes a change.
  bool is_overtaken_for_any(const cache_key& key, number which) const noexcept;

  /// The fleet has heard of this change of an entry: earlier ones, by any process of the host, need
  /// not be told.
  void note_told(const cache_key& key, number which) noexcept;
  /// Whether the fleet has heard of a change of this entry after the one with this number. False
  /// may also mean that this is not known any more.
  bool was_told_since(const cache_key& key, number which) const noexcept {
    return was_told_since(key.disk_hash, which);
  }

  /// Notes that an entry is being put or erased, before it is. An earlier change of the entry by
  /// this process counts no more.
  noted note(const cache_key& key, unheard_change::kind what, std::uint64_t value = 0);
  /// For a process of several fleets: `note` notes a change in all of these journals too, under one
  /// number, and in this one only if the cache is one of `takes`. Before the first change.
  void note_also_in(std::vector<companion> others, cache_filter takes);
  /// As `note`, in this journal alone.
  noted note_alone(const cache_key& key, unheard_change::kind what, std::uint64_t value = 0);
  /// As `note_alone`, of an entry that was changed before and is to be told as it is now: for the
  /// other fleets of the host this overtakes no change.
  noted note_again(const cache_key& key, unheard_change::kind what, std::uint64_t value = 0);
  /// The number in this journal of a change that was noted: another one if this one notes the whole
  /// cache instead. Asked for once for each change.
  number take_number(number which);
  /// The fleet has heard of this change. Does nothing if the change counts no more.
  void settle(number which);
  /// What this change is, which may be one of the whole cache; nothing if it counts no more.
  std::optional<unheard_change::kind> find(number which) const;
  /// The `id` of the journal of the process that made this change, from which it may have been
  /// taken over.
  std::uint64_t origin_of(number which) const;
  /// The fleet is being told of this change of a whole cache: later changes are noted apart.
  void begin_telling(number whole);

  /// Reads the journals of other processes, and takes over those of processes that have ended.
  looked look();

private:
  struct open_change {
    unheard_change change;
    std::uint64_t journal = 0; ///< from which it was taken over under the same number; 0: own
  };
  using changes = std::map<number, open_change>;

  change_journal(file_system& files, int folder, std::filesystem::path path, std::string_view fleet,
                 std::uint64_t opening_id);
  struct journals;

  expected<void> map_order();
  void read_journals(journals& into);
  void take_over(journals& found, std::vector<numbered_change>& taken);
  bool sync_holders(bool has_others);
  void remove_ended();
  number next_number(std::optional<std::uint64_t> hash);
  void raise_number(number to);
  number last_told() const noexcept;
  std::uint64_t told_hash(std::uint64_t hash) const noexcept { return hash ^ fleet_hash_; }
  bool was_told_since(std::uint64_t hash, number which) const noexcept;
  noted note_change(unheard_change change, number as);
  struct added {
    number which = 0;
    bool is_new = true;
  };
  added add(number as, unheard_change change, std::uint64_t journal);
  void tell_others();
  expected<void> note_as(const cache_key& key, unheard_change::kind what, std::uint64_t value,
                         number which);
  void drop_all_of(const unheard_change& whole);
  void drop_address(const std::string& address, number which);
  bool is_full() const noexcept;
  expected<void> append(std::string record);
  expected<void> write_anew();
  int sync(int fd);
  disk::file make_locked(std::string& name);
  void forget(changes::iterator at);
  void close() noexcept;

  file_system* files_ = nullptr;
  int folder_ = -1;
  std::filesystem::path path_;
  std::string start_; ///< of the names of this fleet's journals
  std::uint64_t fleet_hash_ = 0;
  std::uint64_t opening_id_ = 0;
  disk::mapping order_; ///< shared by the processes of the host
  const std::uint64_t born_ = fork_generation();
  std::vector<companion> companions_;
  cache_filter takes_;

  mutable std::mutex mutex_; // protects all below
  std::unique_ptr<disk::unshared_file> file_;
  std::string name_; ///< of `file_`
  std::uint64_t size_ = 0;
  bool lacks_records_ = false; ///< some could not be written: it is made anew
  /// Of ended processes, by name: read, but not in `file_` yet.
  std::map<std::string, std::unique_ptr<disk::unshared_file>> ended_;
  changes open_;
  std::size_t open_bytes_ = 0;
  std::unordered_map<std::string, number> newest_; ///< by the entry's address
  number last_ = 0;                                ///< without a store
  /// Of changes that `take_number` was not asked for yet, those with another number here.
  std::unordered_map<number, number> noted_as_;
};

/// The hash of a value in a journal.
std::uint64_t hash_of_value(const artifact& value);

/// Makes the journals in this folder survive a power loss. Any thread.
expected<void> sync_journals(file_system& files, int folder, const std::filesystem::path& path);

} // namespace hearth::storage
