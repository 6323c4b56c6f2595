#include "runtime/server/connection/stream.hpp"

#include <openssl/asn1.h>
#include <openssl/objects.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <sys/socket.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>

namespace hearth::server {
namespace {

using error_code = stream::error_code;

std::vector<boost::asio::const_buffer> buffers_of(const std::vector<std::string_view>& pieces) {
  std::vector<boost::asio::const_buffer> all;
  all.reserve(pieces.size());
  for (const auto piece : pieces)
    all.emplace_back(piece.data(), piece.size());
  return all;
}

bool would_wait(const error_code& why) {
  return why == boost::asio::error::would_block || why == boost::asio::error::try_again ||
         why == boost::asio::error::interrupted;
}

// Empty unless there is one common name, without a zero byte in it.
std::string common_name(const X509& of) {
  auto* const subject = ::X509_get_subject_name(&of);
  const int at = ::X509_NAME_get_index_by_NID(subject, NID_commonName, -1);
  if (at < 0 || ::X509_NAME_get_index_by_NID(subject, NID_commonName, at) >= 0) return {};
  unsigned char* utf8 = nullptr;
  const int size =
      ::ASN1_STRING_to_UTF8(&utf8, ::X509_NAME_ENTRY_get_data(::X509_NAME_get_entry(subject, at)));
  if (size < 0) return {};
  std::string name(reinterpret_cast<const char*>(utf8), static_cast<std::size_t>(size));
  ::OPENSSL_free(utf8);
  return name.find('\0') == name.npos ? name : std::string{};
}

void close_socket(stream_socket& socket) {
  error_code ignored;
  socket.close(ignored);
}

class plain_stream final : public stream {
public:
  explicit plain_stream(stream_socket socket)
      : socket_(std::move(socket)) {
    error_code ignored;
    socket_.non_blocking(true, ignored);
  }

  void begin(done_callback done) override { done({}); }

  void read(std::span<char> room, count_callback done) override {
    socket_.async_read_some(boost::asio::buffer(room.data(), room.size()), std::move(done));
  }

  std::size_t try_write(const std::vector<std::string_view>& pieces, error_code& why) override {
    std::size_t written = 0;
    auto left = buffers_of(pieces);
    std::size_t first = 0;
    while (first < left.size()) {
      auto count = socket_.write_some(std::span(left).subspan(first), why);
      written += count;
      if (would_wait(why)) why = {};
      if (why || count == 0) break;
      while (first < left.size() && count >= left[first].size())
        count -= left[first++].size();
      if (first < left.size()) left[first] += count;
    }
    return written;
  }

  void write(const std::vector<std::string_view>& pieces, count_callback done) override {
    boost::asio::async_write(socket_, buffers_of(pieces), std::move(done));
  }

  void end_output() override {
    error_code ignored;
    socket_.shutdown(stream_socket::shutdown_send, ignored);
  }
  void close() override { close_socket(socket_); }

private:
  stream_socket socket_;
};

class tls_stream final : public stream {
public:
  tls_stream(stream_socket socket, net::tls_context context)
      : context_(std::move(context))
      , stream_(std::move(socket), *context_) {}

  void begin(done_callback done) override {
    stream_.async_handshake(boost::asio::ssl::stream_base::server, std::move(done));
  }

  std::string peer_name() override {
    auto* const tls = stream_.native_handle();
    const std::unique_ptr<X509, decltype(&::X509_free)> shown(::SSL_get1_peer_certificate(tls),
                                                              &::X509_free);
    if (!shown || ::SSL_get_verify_result(tls) != X509_V_OK) return {};
    return common_name(*shown);
  }

  void read(std::span<char> room, count_callback done) override {
    stream_.async_read_some(boost::asio::buffer(room.data(), room.size()), std::move(done));
  }

  std::size_t try_write(const std::vector<std::string_view>&, error_code&) override { return 0; }

  void write(const std::vector<std::string_view>& pieces, count_callback done) override {
    boost::asio::async_write(stream_, buffers_of(pieces), std::move(done));
  }

  void end_output() override {
    // The peer need not answer: the socket is closed in any case.
    stream_.async_shutdown([](error_code) {});
  }
  void close() override { close_socket(stream_.next_layer()); }

private:
  net::tls_context context_;
  boost::asio::ssl::stream<stream_socket> stream_;
};

} // namespace

std::unique_ptr<stream> make_stream(stream_socket socket, net::tls_context tls) {
  if (tls) return std::make_unique<tls_stream>(std::move(socket), std::move(tls));
  return std::make_unique<plain_stream>(std::move(socket));
}

} // namespace hearth::server
