// Accepts the connections of one listening socket and spreads them over the loops. Its functions
// run on the thread of the first loop, except where they say otherwise.
#pragma once

#include "messages/error.hpp"
#include "runtime/net/tls_files.hpp"
#include "runtime/os/files/descriptor.hpp"
#include "runtime/server/connection/connection.hpp"
#include "runtime/server/connection/io_threads.hpp"
#include "runtime/server/settings/server_settings.hpp"

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility> // Boost 1.74 does not include it under C++20
#include <vector>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>

namespace hearth::server {

/// A listening socket, and its address with the port that it got.
struct listening_socket {
  os::descriptor socket;
  std::string address;
};

/// Listens at `HOST:PORT`, `[IPV6]:PORT` or `unix:/PATH`. A socket of this address that the service
/// manager has passed (sd_listen_fds(3)) is used as it is. A Unix socket that nobody listens at any
/// more is replaced; it belongs to its owner alone (mode 0600). Errors: `invalid_argument` for an
/// address of no such form, `busy` when another process listens there, `not_found` for an unknown
/// host, `io`.
expected<listening_socket> listen_at(const std::string& address);

/// TLS as a listener's settings say; null without a certificate. Errors: `io`, `invalid_argument`
/// with the file's name.
expected<net::tls_context> server_tls(const listener_settings& settings);

class listener : public std::enable_shared_from_this<listener> {
public:
  using session_maker = connection::session_maker;

  listener(io_threads& threads, listening_socket socket, listener_settings settings,
           server_context& context, session_maker make);

  /// Accepts from now on. Any thread.
  void start();
  /// Accepts no more, and drains all connections. Any thread.
  void drain();
  /// Ends all connections at once. Any thread.
  void end_connections();
  /// Ends connections whose peers are too slow, or idle for too long. Any thread.
  void check_times();
  /// Waits until there is no connection, at most until `end`. Returns how many are left. Blocks;
  /// not on a loop's thread.
  std::size_t wait_until_empty(connection::clock::time_point end);
  /// New connections use these. Any thread.
  void set_tls(net::tls_context tls);
  void set_anonymous(identity_ptr anonymous);

  const std::string& address() const noexcept { return address_; }
  const listener_settings& settings() const noexcept { return settings_; }

private:
  void accept_next();
  void accept_all();
  void take(int accepted);
  void warn_full(std::uint64_t connections);
  void for_each(const std::function<void(connection&)>& what);
  void forget(connection& ended);

  io_threads& threads_;
  const std::string address_;
  const listener_settings settings_;
  server_context& context_;
  const session_maker make_;
  boost::asio::posix::stream_descriptor socket_;
  boost::asio::steady_timer pause_; // after the system had no descriptor left
  std::size_t next_loop_ = 0;
  bool is_ended_ = false;                        // accepts no more
  connection::clock::time_point next_warning_{}; // that all connections are taken
  std::mutex mutex_;
  std::condition_variable ended_; // a connection has
  std::unordered_map<connection*, std::pair<boost::asio::io_context*, std::shared_ptr<connection>>>
      connections_;
  net::tls_context tls_;
  identity_ptr anonymous_;
};

} // namespace hearth::server
