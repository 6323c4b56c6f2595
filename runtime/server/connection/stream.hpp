// The socket of an accepted connection, with TLS or not. Owned by one connection, used on its
// thread. One read and one write may run at a time; they call back with an error once it is closed.
#pragma once

#include "runtime/net/tls_files.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility> // Boost 1.74 does not include it under C++20
#include <vector>

#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/system/error_code.hpp>

namespace hearth::server {

using stream_socket = boost::asio::generic::stream_protocol::socket;

class stream {
public:
  using error_code = boost::system::error_code;
  using done_callback = std::function<void(error_code)>;
  using count_callback = std::function<void(error_code, std::size_t)>;

  virtual ~stream() = default;
  /// Begins TLS, if there is any.
  virtual void begin(done_callback done) = 0;
  /// The common name of the certificate that the peer has shown, which was verified; empty: none.
  virtual std::string peer_name() { return {}; }
  /// Reads what there is, as soon as there is something. (Waiting first, to need no buffer until
  /// then, would cost a call of the system for each read.)
  virtual void read(std::span<char> room, count_callback done) = 0;
  /// Writes what can be written without waiting. Returns how many bytes.
  virtual std::size_t try_write(const std::vector<std::string_view>& pieces, error_code& why) = 0;
  /// Writes all of it, whose bytes stay alive until it calls back.
  virtual void write(const std::vector<std::string_view>& pieces, count_callback done) = 0;
  /// Says to the peer that nothing more comes.
  virtual void end_output() = 0;
  virtual void close() = 0;
};

/// A stream over a connected socket. `tls` is null for one without TLS.
std::unique_ptr<stream> make_stream(stream_socket socket, net::tls_context tls);

} // namespace hearth::server
