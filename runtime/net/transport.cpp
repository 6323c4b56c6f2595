#include "runtime/net/transport.hpp"

#include <algorithm>
#include <chrono>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/write.hpp>

namespace hearth::net {
namespace {

namespace asio = boost::asio;
using actors::remote_failure;
using boost::system::error_code;

void set_option(int socket, int level, int name, int value) {
  ::setsockopt(socket, level, name, &value, sizeof value);
}

bool is_of_tls(const error_code& why) { return why.category() == asio::error::get_ssl_category(); }

// OpenSSL's callback when the server asks for a certificate: notes it and goes on with the
// configured one.
int note_request(SSL*, void* asked) {
  *static_cast<bool*>(asked) = true;
  return 1;
}

bool is_end(const error_code& why) {
  return why == asio::error::eof || why == asio::ssl::error::stream_truncated ||
         why == asio::error::connection_reset || why == asio::error::broken_pipe ||
         why == asio::error::operation_aborted;
}

} // namespace

transport::transport(asio::io_context& loop, const remote_endpoint& endpoint, tls_context tls)
    : endpoint_(endpoint)
    , context_(std::move(tls))
    , socket_(loop)
    , deadline_(std::chrono::steady_clock::now() + endpoint.connect_deadline)
    , patience_(loop) {}

void transport::connect(host_addresses to, done_callback done) {
  to_ = std::move(to);
  connected_ = std::move(done);
  connect_next(asio::error::host_not_found);
}

// Calls socket(2) directly, so that the socket is close-on-exec from the start: compilers that are
// started meanwhile must not inherit it.
error_code transport::open(int family) {
  error_code failed;
  socket_.close(failed);
  const int number = ::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (number < 0) return {errno, boost::system::system_category()};
  if (family != AF_UNIX) {
    set_option(number, IPPROTO_TCP, TCP_NODELAY, 1);
    set_option(number, SOL_SOCKET, SO_KEEPALIVE, 1);
    // A connection that only waits has to notice that its server is gone.
    set_option(number, IPPROTO_TCP, TCP_KEEPIDLE, 20);
    set_option(number, IPPROTO_TCP, TCP_KEEPINTVL, 5);
    set_option(number, IPPROTO_TCP, TCP_KEEPCNT, 3);
  }
  failed.clear();
  socket_.assign(asio::generic::stream_protocol(family, 0), number, failed);
  if (failed) ::close(number);
  return failed;
}

void transport::connect_next(const error_code& last) {
  if (next_address_ == to_.all.size()) return finish_connect(connect_problem(last));
  const auto& address = to_.all[next_address_++];
  if (const auto failed = open(address.bytes.ss_family)) return connect_next(failed);
  const asio::generic::stream_protocol::endpoint to(&address.bytes, address.size);
  is_connecting_ = true;
  if (next_address_ < to_.all.size()) pass_over_later();
  socket_.async_connect(to, [this](const error_code& failed) {
    is_connecting_ = false;
    patience_.cancel();
    if (std::exchange(is_passed_over_, false)) return connect_next(asio::error::timed_out);
    if (failed == asio::error::operation_aborted) return finish_connect(io_problem(failed));
    if (failed) return connect_next(failed);
    connected();
  });
}

// Goes on to the next address if this one, which may be silent, has not answered in time.
void transport::pass_over_later() {
  constexpr std::chrono::milliseconds shortest{250};
  const auto left = deadline_ - std::chrono::steady_clock::now();
  const auto share = left / static_cast<int>(to_.all.size() - next_address_ + 1);
  patience_.expires_after(std::max<std::chrono::steady_clock::duration>(share, shortest));
  // `keep`: of what owns this.
  patience_.async_wait([this, keep = connected_, at = next_address_](const error_code& cancelled) {
    if (cancelled || !is_connecting_ || at != next_address_) return;
    is_passed_over_ = true;
    error_code ignored;
    socket_.close(ignored);
  });
}

void transport::connected() {
  if (!context_) return finish_connect({});
  tls_.emplace(socket_, *context_);
  name_peer(tls_->native_handle(), to_.host, endpoint_.verify);
  ::SSL_set_cert_cb(tls_->native_handle(), &note_request, &asked_for_certificate_);
  tls_->async_handshake(asio::ssl::stream_base::client, [this](const error_code& failed) {
    finish_connect(failed ? handshake_problem(failed) : connection_problem{});
  });
}

void transport::finish_connect(connection_problem problem) {
  std::exchange(connected_, nullptr)(std::move(problem));
}

void transport::read_some(std::span<char> into, read_callback done) {
  auto handle = [this, done = std::move(done)](const error_code& failed, std::size_t count) {
    has_received_ = has_received_ || count > 0;
    done(failed ? io_problem(failed) : connection_problem{}, count);
  };
  const auto buffer = asio::buffer(into.data(), into.size());
  if (tls_)
    tls_->async_read_some(buffer, std::move(handle));
  else
    socket_.async_read_some(buffer, std::move(handle));
}

void transport::write(const std::vector<std::string_view>& pieces, done_callback done) {
  std::vector<asio::const_buffer> buffers;
  buffers.reserve(pieces.size());
  for (const auto piece : pieces)
    buffers.emplace_back(piece.data(), piece.size());
  auto handle = [this, done = std::move(done)](const error_code& failed, std::size_t) {
    done(failed ? io_problem(failed) : connection_problem{});
  };
  if (tls_)
    asio::async_write(*tls_, std::move(buffers), std::move(handle));
  else
    asio::async_write(socket_, std::move(buffers), std::move(handle));
}

void transport::close() {
  next_address_ = to_.all.size(); // no further one is tried
  patience_.cancel();
  error_code ignored;
  socket_.close(ignored);
}

connection_problem transport::connect_problem(const error_code& why) const {
  return {remote_failure::unreachable, "cannot connect: " + one_line(why.message())};
}

connection_problem transport::handshake_problem(const error_code& why) {
  if (is_end(why)) return {remote_failure::cut, "the connection ended while TLS began"};
  const auto certificate = certificate_problem(tls_->native_handle());
  if (!certificate.empty())
    return {remote_failure::untrusted, "the server's certificate is not trusted: " + certificate};
  return {remote_failure::untrusted, "TLS failed: " + one_line(why.message())};
}

// With TLS 1.3 a server refuses the client's certificate after the handshake: with an alert, or
// only by closing the connection, when data that we sent meanwhile discarded the alert.
connection_problem transport::io_problem(const error_code& why) const {
  if (is_of_tls(why) && !is_end(why))
    return {remote_failure::untrusted, "TLS failed: " + one_line(why.message())};
  if (asked_for_certificate_ && !has_received_)
    return {remote_failure::untrusted,
            "the server asked for a client certificate and does not take ours, or there is none"};
  if (is_end(why)) return {remote_failure::cut, "the connection ended"};
  return {remote_failure::cut, "the connection failed: " + one_line(why.message())};
}

} // namespace hearth::net
