// The commands of one lane, their connection and their deadlines. Connects when there is a command
// to send, answers each command exactly once, and keeps no more bytes than its bound. Lives on the
// connections' thread.
#pragma once

#include "actors/ports/remote_client.hpp"
#include "runtime/net/redis_connection.hpp"
#include "runtime/net/remote_command.hpp"

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility> // Boost 1.74 does not include it under C++20

#include <boost/asio/steady_timer.hpp>

namespace hearth::net {

/// The parts that all lanes of a server share.
struct lane_context {
  remote_endpoint endpoint;
  tls_context tls; ///< null without TLS
  name_resolver resolve;
  /// The connections' thread runs it; that of several servers, which must live as long as it does:
  /// its handlers refer to them. Destroyed first.
  std::shared_ptr<boost::asio::io_context> loop = std::make_shared<boost::asio::io_context>(1);
};

class redis_lane final : private connection_owner {
public:
  using time_point = remote_command::clock::time_point;

  /// `context` must outlive the lane and everything that it started.
  explicit redis_lane(std::shared_ptr<lane_context> context);
  redis_lane(const redis_lane&) = delete;
  redis_lane& operator=(const redis_lane&) = delete;

  /// Queues a command; `flush` sends the queued commands.
  void add(remote_command command, time_point now);
  void flush();
  /// Ends the connection and fails all commands with `why`.
  void fail_all(const connection_problem& why);
  /// The same, and stops the timer and the lookup.
  void close(const connection_problem& why);

private:
  void connection_ready() override;
  void connection_replied(storage::resp_value reply) override;
  void connection_ended(connection_problem problem) override;

  void connect();
  void look_up();
  void send_unsent();
  void wake_at(time_point when);
  void check_deadlines();
  void give_up_connecting();
  void end_attempt();
  void drop_expired(time_point now);
  template <class Predicate>
  void fail_those(Predicate which, const connection_problem& why);
  bool is_connecting() const { return connection_ && !connection_->is_ready(); }
  void answer(remote_command& command, const connection_problem& why) const;
  void leave();

  // Which addresses the name has, and how it went with them. A lookup may end when its connection
  // waits no more: the next one takes what it found.
  struct address_record {
    std::optional<host_addresses> late;
    time_point came;
    std::size_t failures = 0; // the next attempt begins that many addresses further
    bool are_tried = false;   // by the attempt that is under way

    void start(redis_connection& connection, host_addresses found);
  };

  std::shared_ptr<lane_context> context_;
  name_lookup lookup_;
  const std::shared_ptr<address_record> addresses_ = std::make_shared<address_record>();
  std::shared_ptr<redis_connection> connection_; // null: none
  std::deque<remote_command> waiting_;           // sent commands first
  std::size_t sent_ = 0;
  std::uint64_t waiting_bytes_ = 0;
  boost::asio::steady_timer timer_;
  time_point wakes_at_ = time_point::max();
  bool is_to_leave_ = false; // when all replies are there: the server refused a write as a replica
  bool was_late_ = false;    // whether the last check of the deadlines was late
  time_point connect_began_;
  time_point connect_deadline_ = time_point::max(); // max: not connecting
};

} // namespace hearth::net
