// What has still to be written to the remote tier: bounded in bytes and number, in the order in
// which it came, the oldest dropped when there is no room. A write stays here until the server has
// acknowledged it, so that one that a lost connection swallowed can be sent again.
//
// Plain state of one owner; not for several threads.
#pragma once

#include "messages/artifact.hpp"
#include "messages/cache_key.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace hearth::storage {

struct write_behind_limits {
  std::size_t entries = 4096;
  std::uint64_t bytes = std::uint64_t{64} << 20;
  std::size_t in_flight = 32; ///< sent and not acknowledged
  unsigned tries = 3;         ///< of one write
};

/// One write: of an entry, or the end of a lease.
struct remote_write {
  enum class kind : std::uint8_t {
    insert,  ///< unless there is an entry
    put,     ///< also over an entry
    erase,   ///< of an entry
    release, ///< of a lease, when it is still that of `token`
  };
  kind what = kind::insert;
  cache_key key;
  artifact value;    ///< of insert and put
  std::string token; ///< of release
};

class write_behind {
public:
  using number = std::uint64_t;

  explicit write_behind(const write_behind_limits& limits)
      : limits_(limits) {}

  /// Adds a write. What had to go to make room, oldest first; ends of leases stay. A write that
  /// alone is above the bound comes back itself.
  std::vector<remote_write> push(remote_write write);

  /// The next write that may be sent now; it counts as in flight until `finish` or `retry`. Null:
  /// nothing waits, or enough is in flight. Valid until it ends.
  const remote_write* send_next(number& which);
  /// One that is in flight.
  const remote_write& sent(number which) const { return in_flight_.at(which).write; }
  /// The write is over: it was acknowledged, or is given up.
  remote_write finish(number which);
  /// The write failed: it goes back to its place. It comes back when it is given up: it was tried
  /// often enough, or a later one of its key makes it pointless.
  std::optional<remote_write> retry(number which);

  /// The newest write of this key's entry, or null: what the remote tier is going to hold.
  const remote_write* newest_of(const cache_key& key) const;

  bool empty() const noexcept { return waiting_.empty() && in_flight_.empty(); }
  std::size_t waiting() const noexcept { return waiting_.size(); }
  std::size_t in_flight() const noexcept { return in_flight_.size(); }
  std::uint64_t bytes() const noexcept { return bytes_; }

private:
  struct queued {
    remote_write write;
    unsigned tries = 0;
  };
  static std::uint64_t size_of(const remote_write& write) noexcept;
  bool is_full() const noexcept;
  remote_write take(std::map<number, queued>& from, std::map<number, queued>::iterator at);

  write_behind_limits limits_;
  std::map<number, queued> waiting_;
  std::map<number, queued> in_flight_;
  std::unordered_map<cache_key, number, cache_key_hash> newest_; // of entries alone
  number last_ = 0;
  std::uint64_t bytes_ = 0;
};

} // namespace hearth::storage
