#include "tests/support/fault_proxy.hpp"

#include "storage/resp/resp_parser.hpp"
#include "storage/resp/resp_writer.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <chrono>
#include <cstring>
#include <doctest/doctest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <optional>
#include <poll.h>
#include <sys/socket.h>

namespace hearth::test {
namespace {

using clock = std::chrono::steady_clock;
using storage::resp_parser;

net::socket_address loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  net::socket_address result;
  result.size = sizeof address;
  std::memcpy(&result.bytes, &address, sizeof address);
  return result;
}

const sockaddr* plain(const net::socket_address& address) {
  return reinterpret_cast<const sockaddr*>(&address.bytes);
}

os::descriptor connect_to(const net::socket_address& server) {
  os::descriptor made(::socket(server.bytes.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (::connect(made.get(), plain(server), server.size) != 0) made.reset();
  return made;
}

bool is_greeting(const std::string& command) {
  return command == "HELLO" || command == "AUTH" || command == "SELECT" || command == "CLIENT";
}

// Writes as much as the socket takes. Returns false when the peer is gone.
bool send_some(int to, std::string& bytes) {
  const auto sent = ::send(to, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent < 0) return errno == EAGAIN || errno == EINTR;
  bytes.erase(0, static_cast<std::size_t>(sent));
  return true;
}

// Returns the received bytes, or nothing when the peer is gone.
std::optional<std::string> receive_some(int from) {
  std::string bytes(64u << 10, '\0');
  const auto got = ::recv(from, bytes.data(), bytes.size(), MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return "";
  if (got <= 0) return {};
  bytes.resize(static_cast<std::size_t>(got));
  return bytes;
}

} // namespace

// A client's connection and the proxy's connection to the server.
class fault_proxy::link {
public:
  link(os::descriptor client, os::descriptor server)
      : client_(std::move(client))
      , server_(std::move(server)) {}

  int client() const { return client_.get(); }
  int server() const { return server_.get(); }
  bool wants_client() const { return !to_client_.empty() && now() >= next_byte_; }
  bool wants_server() const { return server_ && !to_server_.empty(); }
  /// When the next byte may go to the client; far in the future when there is none.
  clock::time_point wakes_at() const {
    return to_client_.empty() ? clock::time_point::max() : next_byte_;
  }

  bool from_client(const orders& now, std::atomic<std::size_t>& commands) {
    auto bytes = receive_some(client());
    if (!bytes) return false;
    if (now.fault == proxy_fault::black_hole) return true;
    // Bytes that are not RESP (TLS, say) pass unchanged.
    if (opaque_ || (first_ && !bytes->empty() && bytes->front() != '*')) {
      opaque_ = true;
      to_server_ += *bytes;
      return true;
    }
    std::string_view rest = *bytes;
    storage::resp_value command;
    while (requests_.take(rest, command) == resp_parser::outcome::value)
      take_command(command, now, commands);
    first_ = false;
    return true;
  }

  void from_server(const orders& now) {
    const auto bytes = receive_some(server());
    if (!bytes) { // the remaining bytes are still sent
      ends_ = true;
      server_.reset();
      return;
    }
    if (now.fault == proxy_fault::black_hole) return;
    const bool cut = now.fault == proxy_fault::cut && (greeted_ || opaque_) && !bytes->empty();
    to_client_ += cut ? bytes->substr(0, bytes->size() / 2) : *bytes;
    ends_ = ends_ || cut;
  }

  bool to_client(const orders& now) {
    if (now.fault != proxy_fault::drip) return send_some(client(), to_client_);
    std::string one(1, to_client_.front());
    if (!send_some(client(), one)) return false;
    if (one.empty()) to_client_.erase(0, 1);
    next_byte_ = clock::now() + std::chrono::seconds(1);
    return true;
  }

  bool to_server() { return send_some(server(), to_server_); }
  void hurry() { next_byte_ = clock::time_point::min(); }
  bool is_over() const { return ends_ && to_client_.empty(); }

private:
  static clock::time_point now() { return clock::now(); }

  void take_command(const storage::resp_value& command, const orders& now,
                    std::atomic<std::size_t>& commands) {
    std::vector<std::string> words;
    for (const auto& word : command.items)
      words.push_back(word.text);
    const auto& name = words.front();
    if (!is_greeting(name)) {
      ++commands;
      greeted_ = true;
    }
    if (now.fault == proxy_fault::answer && is_meant(name, now.commands))
      to_client_ += now.bytes;
    else
      storage::append_command(to_server_, words);
  }

  static bool is_meant(const std::string& name, const std::vector<std::string>& commands) {
    if (commands.empty()) return !is_greeting(name);
    return commands.front() == "*" ||
           std::find(commands.begin(), commands.end(), name) != commands.end();
  }

  os::descriptor client_;
  os::descriptor server_;
  std::string to_client_;
  std::string to_server_;
  resp_parser requests_{{}, storage::resp_side::client};
  bool first_ = true;
  bool opaque_ = false;
  bool greeted_ = false;
  bool ends_ = false;
  clock::time_point next_byte_ = clock::time_point::min();
};

fault_proxy::fault_proxy(const std::filesystem::path& server)
    : server_(net::unix_address(server.string())) {
  start();
}

fault_proxy::fault_proxy(std::uint16_t server)
    : server_(loopback(server)) {
  start();
}

void fault_proxy::start() {
  listen(true);
  auto poke = os::make_event();
  REQUIRE(poke);
  poke_ = std::move(*poke);
  thread_ = std::thread([this] { run(); });
}

fault_proxy::~fault_proxy() {
  {
    const std::scoped_lock lock(mutex_);
    ending_ = true;
  }
  const std::uint64_t one = 1;
  static_cast<void>(::write(poke_.get(), &one, sizeof one));
  thread_.join();
}

// While off, the proxy keeps its port: the socket is bound, but does not listen.
void fault_proxy::listen(bool on) {
  listener_.reset();
  listener_ = os::descriptor(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int yes = 1;
  ::setsockopt(listener_.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  auto address = loopback(port_);
  REQUIRE(::bind(listener_.get(), plain(address), address.size) == 0);
  if (on) REQUIRE(::listen(listener_.get(), 64) == 0);
  sockaddr_in bound{};
  socklen_t size = sizeof bound;
  REQUIRE(::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&bound), &size) == 0);
  port_ = ntohs(bound.sin_port);
}

void fault_proxy::set(proxy_fault fault) {
  orders now;
  now.fault = fault;
  obey(std::move(now));
}

void fault_proxy::answer(std::string bytes, std::vector<std::string> commands) {
  obey({proxy_fault::answer, std::move(bytes), std::move(commands)});
}

void fault_proxy::obey(orders now) {
  std::uint64_t number = 0;
  {
    const std::scoped_lock lock(mutex_);
    wanted_ = std::move(now);
    number = ++order_number_;
  }
  const std::uint64_t one = 1;
  static_cast<void>(::write(poke_.get(), &one, sizeof one));
  for (auto done = obeyed_.load(); done < number; done = obeyed_.load())
    obeyed_.wait(done);
}

void fault_proxy::take_orders() {
  std::uint64_t count = 0;
  static_cast<void>(::read(poke_.get(), &count, sizeof count));
  const std::scoped_lock lock(mutex_);
  const bool refused = current_.fault == proxy_fault::refuse;
  current_ = wanted_;
  if (current_.fault == proxy_fault::refuse) links_.clear();
  if (refused != (current_.fault == proxy_fault::refuse)) listen(refused);
  for (const auto& one : links_)
    one->hurry();
  obeyed_.store(order_number_);
  obeyed_.notify_all();
}

void fault_proxy::accept_one() {
  os::descriptor client(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!client) return;
  const int yes = 1;
  ::setsockopt(client.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  auto server = connect_to(server_);
  ++connections_;
  if (server) links_.push_back(std::make_unique<link>(std::move(client), std::move(server)));
}

// Waits for events and returns them: of the orders, the listener, then of each link.
std::vector<pollfd> fault_proxy::wait() const {
  const auto wanted = [](bool writes) {
    return static_cast<short>(writes ? POLLIN | POLLOUT : POLLIN);
  };
  const bool takes = current_.fault != proxy_fault::refuse;
  std::vector<pollfd> waits{{poke_.get(), POLLIN, 0}, {takes ? listener_.get() : -1, POLLIN, 0}};
  auto wakes_at = clock::time_point::max();
  for (const auto& one : links_) {
    waits.push_back({one->client(), wanted(one->wants_client()), 0});
    waits.push_back({one->server(), wanted(one->wants_server()), 0});
    if (!one->wants_client()) wakes_at = std::min(wakes_at, one->wakes_at());
  }
  int timeout_ms = -1;
  if (wakes_at != clock::time_point::max()) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(wakes_at - clock::now());
    timeout_ms = static_cast<int>(std::max<std::int64_t>(0, left.count()));
  }
  ::poll(waits.data(), waits.size(), timeout_ms);
  return waits;
}

bool fault_proxy::serve(link& one, short from_client, short from_server) {
  constexpr short readable = POLLIN | POLLHUP | POLLERR;
  if ((from_client & readable) && !one.from_client(current_, commands_)) return false;
  if (from_server & readable) one.from_server(current_);
  if (one.wants_server() && !one.to_server()) return false;
  if (one.wants_client() && !one.to_client(current_)) return false;
  return !one.is_over();
}

void fault_proxy::run() {
  for (;;) {
    const auto waits = wait();
    for (std::size_t i = 0; i < links_.size(); ++i)
      if (!serve(*links_[i], waits[2 + 2 * i].revents, waits[3 + 2 * i].revents)) links_[i].reset();
    std::erase(links_, nullptr);
    if (waits[1].revents & POLLIN) accept_one();
    open_ = links_.size();
    if (!(waits[0].revents & POLLIN)) continue;
    if (is_ending()) return;
    take_orders();
    open_ = links_.size();
  }
}

bool fault_proxy::is_ending() {
  const std::scoped_lock lock(mutex_);
  return ending_;
}

} // namespace hearth::test
