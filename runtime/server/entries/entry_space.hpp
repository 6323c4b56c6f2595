// The entries that a client sees: those of its namespace, then those of the trusted one, in one
// database. Any thread; copies are cheap.
#pragma once

#include "messages/artifact.hpp"
#include "messages/replies.hpp"
#include "runtime/api/future.hpp"
#include "runtime/handle/cache.hpp"
#include "runtime/server/entries/change_order.hpp"
#include "runtime/server/entries/hash_fields.hpp"
#include "runtime/server/entries/stored_value.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hearth::server {

/// What a change makes of an entry.
struct entry_change {
  enum class kind : std::uint8_t { keep, put, erase };
  kind what = kind::keep;
  artifact value{}; ///< for put
};

/// The entry as a change found it.
struct changed_entry {
  lookup before;        ///< as `get` returns it
  bool is_own = false;  ///< it is in the own namespace
  bool changed = false; ///< it was put or erased
};

/// The entries of both namespaces under one key.
struct layered_lookup {
  lookup own;
  lookup trusted; ///< a miss where the own namespace is the trusted one
};

/// A page of a scan.
struct key_page {
  std::vector<std::string> keys;
  std::uint64_t next = 0; ///< the cursor of the next page; 0: there is none
};

class entry_space {
public:
  using decision = std::function<entry_change(const lookup& before, bool is_own)>;

  /// `trusted` is empty where the own namespace is the trusted one. All spaces of a server share
  /// one order of changes.
  entry_space(cache own, std::optional<cache> trusted, std::shared_ptr<change_order> order);

  /// The same entries for a client that must not store those of HTTP (http_keys.hpp): a store of
  /// one fails with `permission`.
  entry_space without_http_writes() const;

  /// Looks in the own namespace, then in the trusted one; an expired entry is a miss. Ready at once
  /// unless the upstream has to be asked.
  future<lookup> get(std::string_view key) const;
  /// Looks in both namespaces: a hash is the union of its two parts.
  future<layered_lookup> get_layers(std::string_view key) const;
  /// Inserts or replaces, in the own namespace.
  future<done> put(std::string_view key, const artifact& value) const;
  /// Inserts unless there is an entry that `get` returns.
  future<insert_outcome> insert(std::string_view key, const artifact& value) const;
  /// Drops the entry of the own namespace. Answers whether there was one that had not expired.
  future<bool> erase(std::string_view key) const;
  /// Looks the entry up and does what `decide` says; no other client changes it meanwhile.
  future<changed_entry> change(std::string_view key, decision decide) const;

  /// Calls `told` after each store of the key by a client of the server, in this namespace or in
  /// another one, until the handle goes (store_watch.hpp).
  [[nodiscard]] store_watch::handle watch(std::string_view key, std::function<void()> told) const;

  /// The entry, or the lease to make it; waits while another client, process or host makes it, at
  /// most until the deadline (`timeout`). A lease that the caller does not take is released.
  /// Cancelling the future ends the wait.
  future<lease_reply> acquire(std::string_view key, std::chrono::milliseconds deadline) const;
  /// Ends a lease with the entry, for all who wait. An entry that another caller stored meanwhile
  /// stays (`exists`). Errors: `lease_lost` when the lease has ended before.
  future<insert_outcome> fulfil(std::string_view key, lease_id lease, const artifact& value) const;
  /// Ends a lease: the next that waits gets it. Does nothing if it has ended before.
  void release(std::string_view key, lease_id lease) const;

  /// A part of a scan of the own namespace's keys that have not expired, at `cursor`, which an
  /// earlier page had; 0 begins. Looks at about `count` of its entries, and at least at the next
  /// ones: `wanted` says which keys the page gets. A key that is there from the first page to the
  /// last one is in one of them, or in several. Blocks on the disk. Errors: `invalid_argument` for
  /// a number that is no cursor, and those of reading the store.
  expected<key_page>
  scan(std::uint64_t cursor, std::size_t count,
       const std::function<bool(std::string_view key, entry_type)>& wanted) const;
  /// Calls `visit` with the key and size of each entry of the own namespace that has not expired,
  /// until it returns false. Blocks on the disk: not on a connection's thread. Errors: those of
  /// reading the store.
  expected<void>
  list(const std::function<bool(std::string_view key, std::uint64_t bytes)>& visit) const;

private:
  future<done> drop_expired(const std::string& name) const;

  cache own_;
  std::optional<cache> trusted_;
  std::shared_ptr<change_order> order_;
  bool may_write_http_ = true;
};

} // namespace hearth::server
