// Faults of networks and servers, and the failure that each causes. The reply comes within its
// deadline and describes the failure in one line; after the fault the same server object works
// again.
#include "tests/support/asker.hpp"
#include "tests/support/fault_proxy.hpp"
#include "tests/support/local_redis.hpp"

#include <arpa/inet.h>
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <netinet/in.h>
#include <sys/socket.h>

namespace remote_faults_test {

using namespace hearth;
using namespace hearth::net;
using namespace hearth::test;

namespace {

struct faulty_redis {
  local_redis redis;
  fault_proxy proxy{redis.socket()};
  std::shared_ptr<remote_client> server = connected(proxy.url());

  faulty_redis() { REQUIRE(is_ok(ask(*server, {"SET", "k", "value"}))); }

  /// Sends a request during the fault, on an existing connection and on a new one; then removes the
  /// fault and asks again.
  void check(remote_failure old_connection, remote_failure new_connection,
             std::chrono::milliseconds deadline = patient) {
    const auto first = ask(*server, {"GET", "k"}, deadline);
    CHECK(name_of(first) == actors::to_string(old_connection));
    check_text(first);
    const auto fresh = connected(proxy.url());
    const auto second = ask(*fresh, {"GET", "k"}, deadline);
    CHECK(name_of(second) == actors::to_string(new_connection));
    check_text(second);
    proxy.heal();
    for (const auto& one : {server, fresh}) {
      const auto healed = ask(*one, {"GET", "k"});
      CHECK(is_ok(healed));
      CHECK(healed.value.text == "value");
    }
  }

  void check(remote_failure both, std::chrono::milliseconds deadline = patient) {
    check(both, both, deadline);
  }

  /// A timeout comes at the deadline: not before it, and not only when the server would be done.
  void check_timeout() {
    constexpr auto deadline = 50ms;
    const auto fresh = connected(proxy.url());
    for (const auto& one : {server, fresh}) {
      const auto begun = std::chrono::steady_clock::now();
      CHECK(name_of(ask(*one, {"GET", "k"}, deadline)) ==
            actors::to_string(remote_failure::timeout));
      const auto took = std::chrono::steady_clock::now() - begun;
      CHECK(took >= deadline);
      CHECK(took < 100 * deadline); // allows for a busy machine
    }
    check(remote_failure::timeout, deadline);
  }

  static void check_text(const remote_reply& reply) {
    CHECK(!reply.problem.empty());
    CHECK(reply.problem.find('\n') == std::string::npos);
    CHECK(reply.problem.starts_with("redis://127.0.0.1:"));
  }
};

} // namespace

TEST_CASE("remote faults: refused") {
  faulty_redis faulty;
  faulty.proxy.set(proxy_fault::refuse);
  // The open connection ends before the command or after it was sent: both failures are correct.
  const auto first = ask(*faulty.server, {"GET", "k"});
  CHECK((first.failure == remote_failure::cut || first.failure == remote_failure::unreachable));
  faulty.check(remote_failure::unreachable);
}

TEST_CASE("remote faults: a black hole is a timeout, at its deadline") {
  faulty_redis faulty;
  faulty.proxy.set(proxy_fault::black_hole);
  faulty.check_timeout();
}

TEST_CASE("remote faults: a byte a second is a timeout, at its deadline") {
  faulty_redis faulty;
  faulty.proxy.set(proxy_fault::drip);
  faulty.check_timeout();
}

TEST_CASE("remote faults: cut in the middle of a reply") {
  faulty_redis faulty;
  faulty.proxy.set(proxy_fault::cut);
  faulty.check(remote_failure::cut);
}

TEST_CASE("remote faults: garbage, from the first byte or only later") {
  faulty_redis faulty;
  faulty.proxy.garbage();
  faulty.check(remote_failure::garbage);
  faulty.proxy.answer("\x16\x03\x01 hello", {"*"}); // also for the greeting
  faulty.check(remote_failure::garbage);
  faulty.proxy.answer("+OK\r\n", {"*"}); // no reply to HELLO, but a valid one to GET at this level
  CHECK(ask(*connected(faulty.proxy.url()), {"GET", "k"}).failure == remote_failure::garbage);
}

TEST_CASE("remote faults: a giant length is garbage at once") {
  faulty_redis faulty;
  faulty.proxy.giant_length();
  faulty.check(remote_failure::garbage);
}

TEST_CASE("remote faults: more replies than commands are garbage") {
  faulty_redis faulty;
  faulty.proxy.answer("+OK\r\n+OK\r\n");
  CHECK(is_ok(ask(*faulty.server, {"GET", "k"})));
  faulty.proxy.heal();
  // The surplus reply ends that connection, possibly only now.
  const auto next = ask(*faulty.server, {"GET", "k"});
  CHECK((next.value.text == "value" || next.failure == remote_failure::garbage));
  CHECK(ask(*faulty.server, {"GET", "k"}).value.text == "value");
}

TEST_CASE("remote faults: errors with which a server refuses or cannot answer") {
  faulty_redis faulty;
  const std::pair<const char*, remote_failure> errors[] = {
      {"OOM command not allowed when used memory > 'maxmemory'.", remote_failure::refused},
      {"LOADING Redis is loading the dataset in memory", remote_failure::refused},
      {"MASTERDOWN Link with MASTER is down", remote_failure::refused},
      {"NOAUTH Authentication required.", remote_failure::denied},
      {"WRONGPASS invalid username-password pair or user is disabled.", remote_failure::denied},
      {"NOPERM this user has no permissions to run the 'get' command", remote_failure::denied},
      {"WRONGTYPE Operation against a key holding the wrong kind of value",
       remote_failure::garbage},
      {"ERR something else", remote_failure::refused},
      {"READONLY You can't write against a read only replica.", remote_failure::refused},
  };
  for (const auto& [text, failure] : errors) {
    CAPTURE(text);
    faulty.proxy.error(text);
    const auto connections = faulty.proxy.connections();
    const auto got = ask(*faulty.server, {"GET", "k"});
    CHECK(got.failure == failure);
    CHECK(got.value.text == text);
    faulty.check(failure);
    // An error is a reply: the connection stays, but for one of a replica, whose name may lead to
    // another server by now. One connection is the check's own.
    const auto more = faulty.proxy.connections() - connections;
    const bool is_replica = std::string_view(text).starts_with("READONLY");
    CHECK((is_replica ? more > 1 : more == 1));
    faulty.proxy.error(text, {"HELLO"});
    const auto fresh = connected(faulty.proxy.url());
    // Who serves nobody now is tried again, as one whose connection ends.
    const bool is_busy = std::string_view(text).starts_with("LOADING") ||
                         std::string_view(text).starts_with("MASTERDOWN");
    CHECK(ask(*fresh, {"GET", "k"}).failure == (is_busy ? remote_failure::cut : failure));
    faulty.proxy.heal();
    CHECK(ask(*fresh, {"GET", "k"}).value.text == "value");
  }
}

TEST_CASE("remote faults: a password that a server quotes in its error is not shown") {
  const local_redis redis;
  fault_proxy proxy(redis.socket());
  proxy.error("ERR unknown subcommand `HELLO`, args beginning with: `3` `AUTH` `u` `hunter2`",
              {"HELLO"});
  auto endpoint = *parse_remote_url(proxy.url());
  endpoint.user = "u";
  endpoint.password = "hunter2";
  const auto denied = ask(**connect_redis(endpoint), {"GET", "k"});
  CHECK(denied.failure == remote_failure::refused);
  CHECK(denied.problem.find("hunter2") == std::string::npos);
  CHECK(denied.problem.find("***") != std::string::npos);
}

TEST_CASE("remote faults: an old server that does not know HELLO gets the old commands") {
  const local_redis redis({.password = "s3cret"});
  fault_proxy proxy(redis.socket());
  proxy.error("ERR unknown command `HELLO`, with args beginning with: `3`", {"HELLO"});
  auto endpoint = *parse_remote_url(proxy.url());
  endpoint.password = "s3cret";
  endpoint.database = 2;
  const auto server = *connect_redis(endpoint);
  CHECK(is_ok(ask(*server, {"SET", "k", "v"})));
  CHECK(ask(*server, {"GET", "none"}).value.is_null());
  endpoint.password = "wrong";
  CHECK(ask(**connect_redis(endpoint), {"GET", "k"}).failure == remote_failure::denied);
}

TEST_CASE("remote faults: a missing socket, host or port is unreachable at once") {
  const temporary_directory directory;
  CHECK(ask(*connected("redis+unix://" + (directory / "none.sock").string()), {"PING"}).failure ==
        remote_failure::unreachable);
  const claimed_port nobody;
  CHECK(ask(*connected("redis://127.0.0.1:" + std::to_string(nobody.number())), {"PING"}).failure ==
        remote_failure::unreachable);
  const auto lost = ask(*connected("redis://no-such-host.invalid"), {"PING"});
  CHECK(lost.failure == remote_failure::unreachable);
  CHECK(lost.problem.find("no-such-host.invalid") != std::string::npos);
}

namespace {

// A name service that hangs until it is released.
struct hanging_resolver {
  std::mutex mutex;
  std::condition_variable moved;
  bool free = false;
  int asked = 0;
  socket_address answer;

  name_resolver resolver() {
    return [this](const std::string&, std::uint16_t) -> expected<host_addresses> {
      std::unique_lock lock(mutex);
      ++asked;
      moved.notify_all();
      moved.wait(lock, [this] { return free; });
      return host_addresses{"", {answer}};
    };
  }
  void let_go() {
    const std::scoped_lock lock(mutex);
    free = true;
    moved.notify_all();
  }
};

} // namespace

TEST_CASE("remote faults: a name service that hangs costs a deadline, and close does not wait") {
  const local_redis redis;
  auto hanging = std::make_shared<hanging_resolver>();
  hanging->answer = unix_address(redis.socket().string());
  // Owns all that it needs: its thread may outlive the test.
  const name_resolver resolve = [hanging](const std::string& host, std::uint16_t port) {
    return hanging->resolver()(host, port);
  };
  auto endpoint = *parse_remote_url("redis://slow.example");
  const auto server = *connect_redis(endpoint, {}, resolve);
  CHECK(ask(*server, {"PING"}, 20ms).failure == remote_failure::timeout);
  CHECK(ask(*server, {"PING"}, 20ms).failure == remote_failure::timeout);
  endpoint.connect_deadline = 20ms;
  const auto hasty = *connect_redis(endpoint, {}, resolve);
  CHECK(ask(*hasty, {"PING"}).failure == remote_failure::timeout);
  // There is one lookup at a time, for any number of requests.
  CHECK(ask(*hasty, {"PING"}).failure == remote_failure::unreachable);
  hasty->close();
  hanging->let_go();
  CHECK(is_ok(ask(*server, {"PING"})));
  server->close();
}

TEST_CASE(
    "remote faults: a name service that is slower than a connection waits is used in the end") {
  const local_redis redis;
  struct slow_resolver {
    std::mutex mutex;
    std::condition_variable moved;
    int released = 0;
    int answered = 0;
  };
  auto slow = std::make_shared<slow_resolver>();
  const auto address = unix_address(redis.socket().string());
  const name_resolver resolve = [slow, address](const std::string&, std::uint16_t) {
    std::unique_lock lock(slow->mutex);
    slow->moved.wait(lock, [&] { return slow->released > slow->answered; });
    ++slow->answered;
    return expected<host_addresses>(host_addresses{"", {address}});
  };
  auto endpoint = *parse_remote_url("redis://slow.example");
  endpoint.connect_deadline = 20ms;
  const auto server = *connect_redis(endpoint, {}, resolve);
  CHECK(ask(*server, {"PING"}).failure == remote_failure::timeout);
  const auto release = [&] {
    const std::scoped_lock lock(slow->mutex);
    ++slow->released;
    slow->moved.notify_all();
  };
  release(); // that lookup alone: every later one takes too long again
  const auto limit = std::chrono::steady_clock::now() + 60s;
  while (ask(*server, {"PING"}).failure != remote_failure::none)
    REQUIRE(std::chrono::steady_clock::now() < limit);
  server->close();
  release(); // of one that may have begun meanwhile
}

namespace {

// An address that neither takes a connection nor refuses one: the queue of those to accept is full.
class silent_address {
public:
  silent_address() {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(::bind(listener_.get(), reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0);
    REQUIRE(::listen(listener_.get(), 0) == 0);
    socklen_t size = sizeof at;
    REQUIRE(::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&at), &size) == 0);
    address_.size = sizeof at;
    std::memcpy(&address_.bytes, &at, sizeof at);
    for (const auto& one : waiting_)
      static_cast<void>(
          ::connect(one.get(), reinterpret_cast<const sockaddr*>(&at), sizeof at)); // later
  }
  const socket_address& address() const { return address_; }

private:
  static os::descriptor make() {
    return os::descriptor(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  }
  os::descriptor listener_ = make();
  os::descriptor waiting_[4] = {make(), make(), make(), make()};
  socket_address address_;
};

} // namespace

TEST_CASE("remote faults: an address of a name that is silent is passed over") {
  const local_redis redis;
  const silent_address first, second;
  const auto real = unix_address(redis.socket().string());
  const name_resolver resolve = [&](const std::string&, std::uint16_t) {
    return expected<host_addresses>(host_addresses{"", {first.address(), second.address(), real}});
  };
  auto endpoint = *parse_remote_url("redis://several.example");
  endpoint.connect_deadline = 3s;
  const auto server = *connect_redis(endpoint, {}, resolve);
  CHECK(is_ok(ask(*server, {"PING"})));
  // One that takes connections and says nothing is passed over by the next attempt.
  fault_proxy mute(redis.socket());
  mute.set(proxy_fault::black_hole);
  const auto mute_at = resolve_by_system("127.0.0.1", mute.port())->all.front();
  endpoint.connect_deadline = 300ms;
  const name_resolver half = [&](const std::string&, std::uint16_t) {
    return expected<host_addresses>(host_addresses{"", {mute_at, real}});
  };
  const auto next = *connect_redis(endpoint, {}, half);
  CHECK(ask(*next, {"PING"}).failure == remote_failure::timeout);
  CHECK(is_ok(ask(*next, {"PING"})));
  // The last one is waited for until the time limit.
  const name_resolver nobody = [&](const std::string&, std::uint16_t) {
    return expected<host_addresses>(host_addresses{"", {first.address(), second.address()}});
  };
  const auto late = ask(**connect_redis(endpoint, {}, nobody), {"PING"});
  CHECK(late.failure == remote_failure::timeout);
  CHECK(late.problem.find("cannot connect within 300 ms") != std::string::npos);
}

} // namespace remote_faults_test
