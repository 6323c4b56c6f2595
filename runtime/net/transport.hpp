// Bytes to and from a server: a TCP or Unix socket, with TLS or not. Owned by one connection, used
// on the connections' thread. One read and one write may run at a time; their buffers and the
// transport must live until they have called back.
#pragma once

#include "runtime/net/connection_problem.hpp"
#include "runtime/net/name_lookup.hpp"
#include "runtime/net/remote_endpoint.hpp"
#include "runtime/net/tls_context.hpp"

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <utility> // Boost 1.74 does not include it under C++20
#include <vector>

#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/steady_timer.hpp>

namespace hearth::net {

class transport {
public:
  /// `tls` is null for a transport without TLS.
  transport(boost::asio::io_context& loop, const remote_endpoint& endpoint, tls_context tls);

  using done_callback = std::function<void(connection_problem)>;
  using read_callback = std::function<void(connection_problem, std::size_t)>;

  /// Connects to the first address that answers, then begins TLS with the host of that name. None
  /// but the last is waited for longer than its share of the time limit.
  void connect(host_addresses to, done_callback done);
  void read_some(std::span<char> into, read_callback done);
  /// Writes all pieces, in order.
  void write(const std::vector<std::string_view>& pieces, done_callback done);
  /// Closes it at once: a running read or write calls back with a problem.
  void close();

private:
  using socket = boost::asio::generic::stream_protocol::socket;
  void connect_next(const boost::system::error_code& last);
  void pass_over_later();
  boost::system::error_code open(int family);
  void connected();
  void finish_connect(connection_problem problem);
  connection_problem connect_problem(const boost::system::error_code& why) const;
  connection_problem handshake_problem(const boost::system::error_code& why);
  connection_problem io_problem(const boost::system::error_code& why) const;

  const remote_endpoint& endpoint_;
  tls_context context_;
  socket socket_;
  std::optional<boost::asio::ssl::stream<socket&>> tls_;
  host_addresses to_;
  std::size_t next_address_ = 0;
  const std::chrono::steady_clock::time_point deadline_; // by which it has to be connected
  boost::asio::steady_timer patience_;                   // with an address
  bool is_connecting_ = false;
  bool is_passed_over_ = false;
  done_callback connected_;
  bool asked_for_certificate_ = false; // true once the server did
  bool has_received_ = false;
};

} // namespace hearth::net
