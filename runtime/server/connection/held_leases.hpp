// The leases that one connection holds because it missed, for clients that do not know what a lease
// is: the first miss of a key makes its connection the holder, later misses wait for the holder's
// value. Owned by a session, used on its connection's thread.
//
// A lease ends with the value that the connection stores, when another client of the server has
// stored one, after `hold.holder`, or with this object. A wait ends with the lease, or when any
// client of the server has stored the key.
#pragma once

#include "messages/artifact.hpp"
#include "messages/replies.hpp"
#include "runtime/server/connection/session.hpp"
#include "runtime/server/entries/entry_space.hpp"
#include "runtime/server/server_context.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace hearth::server {

class held_leases {
public:
  /// What a connection holds at most; beyond it, a miss is a plain miss.
  static constexpr std::size_t max_leases = 256;

  /// The host and the context outlive this object.
  held_leases(session_host& host, server_context& context, entry_space entries);
  held_leases(const held_leases&) = delete;
  held_leases& operator=(const held_leases&) = delete;
  /// Releases the leases and calls no callback any more.
  ~held_leases();

  const entry_space& entries() const noexcept { return entries_; }
  /// Whether this connection is the holder of the key.
  bool holds(std::string_view key) const { return leases_.contains(key); }
  /// How long this connection has been the holder: what the value took to make, once it is here.
  /// Zero: it is not the holder.
  std::chrono::nanoseconds held_for(std::string_view key) const;

  /// Looks up. A miss makes this connection the holder and is answered as a miss, or waits at most
  /// `hold.wait` for the value of another holder, or of any client of the server. A key that this
  /// connection holds, and a miss above `hold.max_held` or `max_leases`, is answered as a miss at
  /// once. Errors: those of the lookup.
  ///
  /// Callbacks of all functions run on the connection's thread, at once if the answer is ready.
  void get(std::string_view key, std::function<void(expected<lookup>)> answer);
  /// Inserts or replaces. If this connection holds the key, its lease ends with the value, which
  /// every waiter gets.
  void put(std::string_view key, const artifact& value, std::function<void(expected<done>)> answer);
  /// The same, but an entry that is there stays.
  void insert(std::string_view key, const artifact& value,
              std::function<void(expected<insert_outcome>)> answer);

  /// Gives this connection's lease on the key to the next that waits. Returns whether it held one.
  bool abandon(std::string_view key);
  /// All of them.
  void abandon_all();

private:
  using lookup_callback = std::function<void(expected<lookup>)>;
  using outcome_callback = std::function<void(expected<insert_outcome>)>;

  // A miss that waits for another holder's value.
  struct wait {
    std::string key;
    lookup_callback answer;
    store_watch::handle watch;
    std::weak_ptr<completion_state<lease_reply>> asked; // for the lease
  };

  template <class T, class Next>
  void when_answered(future<T> asked, Next next);
  template <class Told>
  store_watch::handle watch(const std::string& key, Told told);
  bool may_wait();
  void acquire(const std::string& key, const lookup_callback& answer);
  void look_again(std::uint64_t number);
  std::optional<wait> take_wait(std::uint64_t number);
  void take_reply(std::uint64_t number, expected<lease_reply> reply);
  void answer_wait(const wait& ended, expected<lease_reply> reply);
  void hold(const std::string& key, lease_id lease);
  void end_if_stored(const std::string& key, lease_id lease);
  lease_id take_lease(std::string_view key);
  void fulfil(std::string_view key, const artifact& value, outcome_callback answer);
  void replace(const std::string& key, const artifact& value,
               std::function<void(expected<done>)> answer);
  void end_hold(const std::string& key, lease_id lease);

  session_host& host_;
  server_context& context_;
  entry_space entries_;
  struct held {
    lease_id lease;
    std::chrono::steady_clock::time_point since; // the miss
    store_watch::handle watch;
  };
  std::map<std::string, held, std::less<>> leases_;
  std::map<std::uint64_t, wait> waits_; // by number; counted in `held_now`
  std::uint64_t last_wait_ = 0;
  std::shared_ptr<const bool> alive_ = std::make_shared<const bool>(true);
};

} // namespace hearth::server
