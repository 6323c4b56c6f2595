// The queue of writes to the remote tier: bounded in bytes and number, in order of arrival; it
// drops the oldest when there is no room. A write stays queued until the server has acknowledged
// it, so that a write lost with a connection can be sent again.
//
// Plain state of one owner; not for several threads.
#pragma once

#include "messages/artifact.hpp"
#include "messages/cache_key.hpp"
#include "messages/member_set.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace hearth::storage {

/// The size of writes in flight does not count until there are more than these.
inline constexpr std::size_t few_in_flight = 32;

struct write_behind_limits {
  std::size_t entries = 4096;
  std::uint64_t bytes = std::uint64_t{64} << 20;
  std::size_t in_flight = few_in_flight; ///< writes sent and not acknowledged
  /// No more than `few_in_flight` are sent while those in flight have so many bytes.
  std::uint64_t bytes_in_flight = std::uint64_t{16} << 20;
  unsigned tries = 3; ///< attempts for one write
  /// A write waits while an erase of its key is on its way.
  bool erases_alone = false;
};

/// One write: of an entry or a set, or the end of a lease.
struct remote_write {
  enum class kind : std::uint8_t {
    insert,    ///< stores unless there is an entry
    put,       ///< stores, and replaces an entry: a purge of other hosts' copies
    overwrite, ///< stores over an entry that no host can use, or over the mark `token`
    erase,     ///< removes an entry: a purge too
    release,   ///< ends a lease, when `token` still holds it
    add,       ///< adds `members` to a set
    remove,    ///< removes `members` from a set
  };
  kind what = kind::insert;
  cache_key key;
  artifact value;                    ///< for insert and put
  std::string token;                 ///< for release and overwrite
  std::vector<set_member> members{}; ///< for add and remove
  /// The number of this change in the host's journal, for an insert of the last change before it;
  /// or 0.
  std::uint64_t change = 0;
  bool is_copy = false;     ///< of an insert: it is what a farther server has
  bool is_put_here = false; ///< of an erase: this host has a value that is not sent
};

/// Whether a write makes other hosts drop their copies of the entry.
inline bool is_purge(const remote_write& write) noexcept {
  return write.what == remote_write::kind::put || write.what == remote_write::kind::erase;
}

class write_behind {
public:
  using number = std::uint64_t;

  explicit write_behind(const write_behind_limits& limits)
      : limits_(limits) {}

  /// Adds a write. Returns the writes dropped to make room, oldest first; drops ends of leases only
  /// when more of them wait than the bound has entries. Returns `write` itself when it alone is
  /// above the bound.
  std::vector<remote_write> push(remote_write write);

  /// The next write to send; it counts as in flight until `finish` or `retry`, and the pointer is
  /// valid until then. Null: enough are in flight, or none waits but those that have to: members
  /// behind entries, what is behind a write of the same key that has to wait, and with
  /// `erases_alone` what is behind an erase.
  const remote_write* send_next(number& which);
  /// A write that is in flight.
  const remote_write& sent(number which) const { return in_flight_.at(which).write; }
  /// Removes a write that was acknowledged, or that the caller gives up.
  remote_write finish(number which);
  /// The write failed: puts it back into its place in the queue. Returns it instead when it is
  /// given up: it has no attempts left, or a later write of its key replaces it.
  std::optional<remote_write> retry(number which);

  /// Whether the server may get an earlier write of the entry of this one, which is in flight, as
  /// late as now: it is in flight too, or was given up, for a later one, without an answer.
  bool follows_unknown(number which) const;

  /// Drops the inserts of this key's entry that no put or erase follows; the write before them is
  /// the newest then. Returns those that are in flight: they go on, but count no more.
  std::vector<number> drop_inserts(const cache_key& key);

  /// The newest write of this key's entry, which the remote tier will hold; or null.
  const remote_write* newest_of(const cache_key& key) const;
  /// Whether a put or an erase of this key's entry that came after this write is not acknowledged
  /// yet. It looks at all writes.
  bool has_purge_after(number which, const cache_key& key) const;
  /// Applies the unacknowledged changes of this set to `members`, in their order.
  void apply_changes(const cache_key& key, member_set& members) const;

  bool empty() const noexcept { return waiting_.empty() && in_flight_.empty(); }
  std::size_t waiting() const noexcept { return waiting_.size(); }
  std::size_t in_flight() const noexcept { return in_flight_.size(); }
  std::uint64_t bytes() const noexcept { return bytes_; }

private:
  struct queued {
    remote_write write;
    unsigned tries = 0;
    bool counts = true; ///< a look-up may find it
    bool follows_unknown = false;
  };
  static std::uint64_t size_of(const remote_write& write) noexcept;
  bool is_full() const noexcept;
  bool are_enough_in_flight() const noexcept;
  std::map<number, queued>::iterator next_to_send();
  queued& find(number which);
  bool has_to_wait(number which, const remote_write& write) const;
  void note_flight(const remote_write& write, bool begins);
  void note_newest(const cache_key& key);
  remote_write take(std::map<number, queued>& from, std::map<number, queued>::iterator at);

  write_behind_limits limits_;
  std::map<number, queued> waiting_;
  std::map<number, queued> in_flight_;
  std::unordered_map<cache_key, number, cache_key_hash> newest_; // writes of entries only
  number last_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint64_t bytes_in_flight_ = 0;
  std::size_t erases_in_flight_ = 0;
};

} // namespace hearth::storage
