#include "runtime/server/connection/listener.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <utility>

#include <boost/asio/post.hpp>

namespace hearth::server {
namespace {

constexpr std::chrono::milliseconds accept_pause{100};

std::string text_of(const sockaddr_storage& address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (address.ss_family == AF_INET)
    ::inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in&>(address).sin_addr, text.data(),
                text.size());
  else if (address.ss_family == AF_INET6)
    ::inet_ntop(AF_INET6, &reinterpret_cast<const sockaddr_in6&>(address).sin6_addr, text.data(),
                text.size());
  else
    return "unix";
  return text.data();
}

std::string peer_of(int socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  ::getpeername(socket, reinterpret_cast<sockaddr*>(&address), &size);
  return text_of(address);
}

bool is_out_of_descriptors(int number) {
  return number == EMFILE || number == ENFILE || number == ENOMEM || number == ENOBUFS;
}

} // namespace

listener::listener(io_threads& threads, listening_socket socket, listener_settings settings,
                   server_context& context, session_maker make)
    : threads_(threads)
    , address_(std::move(socket.address))
    , settings_(std::move(settings))
    , context_(context)
    , make_(std::move(make))
    , socket_(threads.loop(0), ::dup(socket.socket.get()))
    , pause_(threads.loop(0)) {}

void listener::start() {
  boost::asio::post(threads_.loop(0), [me = shared_from_this()] { me->accept_next(); });
}

void listener::accept_next() {
  if (is_ended_) return;
  socket_.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                     [me = shared_from_this()](const boost::system::error_code& why) {
                       if (!why && !me->is_ended_) me->accept_all();
                     });
}

void listener::accept_all() {
  for (;;) {
    const int accepted =
        ::accept4(socket_.native_handle(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (accepted >= 0) {
      take(accepted);
    } else if (is_out_of_descriptors(errno)) {
      // The connection waits in the kernel until others have ended.
      pause_.expires_after(accept_pause);
      return pause_.async_wait(
          [me = shared_from_this()](const boost::system::error_code&) { me->accept_next(); });
    } else if (errno != EINTR && errno != ECONNABORTED) {
      return accept_next();
    }
  }
}

void listener::take(int accepted) {
  os::descriptor kept(accepted);
  auto& counters = context_.counters;
  auto& open = counters.connections[static_cast<std::size_t>(settings_.speaks)];
  std::uint64_t all = 0;
  for (const auto& one : counters.connections)
    all += one.load(std::memory_order_relaxed);
  if (all >= context_.limits().connections) {
    counters.connections_refused.fetch_add(1, std::memory_order_relaxed);
    warn_full(all);
    return;
  }
  const int yes = 1;
  ::setsockopt(accepted, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  ::setsockopt(accepted, SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof yes);
  auto& loop = threads_.loop(next_loop_++ % threads_.count());
  connection::origin from{settings_.speaks, peer_of(accepted), nullptr, settings_.hold_misses,
                          settings_.certificate_users};
  stream_socket socket(loop);
  boost::system::error_code why;
  socket.assign(boost::asio::generic::stream_protocol(settings_.is_unix() ? AF_UNIX : AF_INET, 0),
                accepted, why);
  if (why) return;
  // The socket owns the descriptor now.
  static_cast<void>(kept.release());
  std::shared_ptr<connection> made;
  {
    const std::lock_guard lock(mutex_);
    from.anonymous = anonymous_;
    made = std::make_shared<connection>(loop, make_stream(std::move(socket), tls_), std::move(from),
                                        context_);
    connections_.emplace(made.get(), std::pair(&loop, made));
  }
  ++open;
  ++counters.connections_total[static_cast<std::size_t>(settings_.speaks)];
  boost::asio::post(loop, [me = shared_from_this(), made] {
    made->start(me->make_, [me](connection& ended) { me->forget(ended); });
  });
}

// Once a minute: clients that come and go at the limit would fill the log.
void listener::warn_full(std::uint64_t connections) {
  const auto now = connection::clock::now();
  if (now < next_warning_) return;
  next_warning_ = now + std::chrono::minutes(1);
  context_.write_log(log_level::warning, address_ + ": all " + std::to_string(connections) +
                                             " connections are taken: more are refused");
}

void listener::forget(connection& ended) {
  --context_.counters.connections[static_cast<std::size_t>(settings_.speaks)];
  const std::lock_guard lock(mutex_);
  connections_.erase(&ended);
  ended_.notify_all();
}

void listener::for_each(const std::function<void(connection&)>& what) {
  const std::lock_guard lock(mutex_);
  for (const auto& [address, one] : connections_)
    boost::asio::post(*one.first, [what, kept = one.second] { what(*kept); });
}

void listener::drain() {
  boost::asio::post(threads_.loop(0), [me = shared_from_this()] {
    me->is_ended_ = true;
    boost::system::error_code ignored;
    me->socket_.close(ignored);
    me->pause_.cancel();
    me->for_each([](connection& one) { one.drain(); });
  });
}

void listener::end_connections() {
  for_each([](connection& one) { one.end(); });
}

void listener::check_times() {
  for_each([now = connection::clock::now()](connection& one) { one.check_time(now); });
}

std::size_t listener::wait_until_empty(connection::clock::time_point end) {
  std::unique_lock lock(mutex_);
  ended_.wait_until(lock, end, [this] { return connections_.empty(); });
  return connections_.size();
}

void listener::set_tls(net::tls_context tls) {
  const std::lock_guard lock(mutex_);
  tls_ = std::move(tls);
}

void listener::set_anonymous(identity_ptr anonymous) {
  const std::lock_guard lock(mutex_);
  anonymous_ = std::move(anonymous);
}

} // namespace hearth::server
