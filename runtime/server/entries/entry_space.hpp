// The entries that a client sees: those of its namespace, then those of the trusted one, in one
// database. Any thread; copies are cheap.
#pragma once

#include "messages/artifact.hpp"
#include "messages/replies.hpp"
#include "runtime/api/future.hpp"
#include "runtime/handle/cache.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace hearth::server {

/// When an entry ends, in ms of Unix time; 0: never.
using expiry_ms = std::int64_t;
/// The current Unix time in ms.
expiry_ms unix_time_ms();

/// A value with an expiry in its metadata. `members` are kept with it and returned by HTTP.
artifact make_value(std::string_view bytes, expiry_ms expires = 0, value::map members = {});
/// The expiry of a value; 0: none.
expiry_ms expiry_of(const artifact& stored);

class entry_space {
public:
  entry_space(cache own, std::optional<cache> trusted);

  /// Looks in the own namespace, then in the trusted one; an expired entry is a miss. Ready at once
  /// unless the upstream has to be asked.
  future<lookup> get(std::string_view key) const;
  /// Inserts or replaces, in the own namespace.
  future<done> put(std::string_view key, const artifact& value) const;
  /// Inserts unless there is an entry. An expired one counts as none, and as one while it is being
  /// replaced by somebody else.
  future<insert_outcome> insert(std::string_view key, const artifact& value) const;
  /// Drops the entry of the own namespace. Answers whether there was one that a client could see.
  future<bool> erase(std::string_view key) const;

  /// The entry, or the lease to make it; waits while another client, process or host makes it, at
  /// most until the deadline (`timeout`).
  future<lease_reply> acquire(std::string_view key, std::chrono::milliseconds deadline) const;
  /// End a lease. Any later use of its number does nothing.
  future<insert_outcome> fulfil(std::string_view key, lease_id lease, const artifact& value) const;
  void release(std::string_view key, lease_id lease) const;

  /// Calls `visit` with the key and size of each entry of the own namespace that has not expired,
  /// until it returns false. Blocks on the disk: not on a connection's thread.
  expected<void>
  list(const std::function<bool(std::string_view key, std::uint64_t bytes)>& visit) const;

private:
  cache own_;
  std::optional<cache> trusted_;
};

} // namespace hearth::server
