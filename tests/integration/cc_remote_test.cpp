// `hearth cc` with a server of the fleet that accepts and never answers.
#include "tests/support/launcher_bench.hpp"

#include <arpa/inet.h>
#include <chrono>
#include <netinet/in.h>
#include <sys/socket.h>

namespace cc_remote_test {

using namespace hearth::test;
namespace fs = std::filesystem;

namespace {

// The kernel answers for it; nobody reads.
class silent_server {
public:
  silent_server() {
    socket_ = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    sockaddr_in own{};
    own.sin_family = AF_INET;
    own.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof own;
    auto* const address = reinterpret_cast<sockaddr*>(&own);
    REQUIRE(::bind(socket_, address, size) == 0);
    REQUIRE(::listen(socket_, 100) == 0);
    REQUIRE(::getsockname(socket_, address, &size) == 0);
    port_ = ntohs(own.sin_port);
  }
  silent_server(const silent_server&) = delete;
  silent_server& operator=(const silent_server&) = delete;
  ~silent_server() { ::close(socket_); }

  std::string url() const { return "redis://127.0.0.1:" + std::to_string(port_); }
  // How often it was connected to since the last call.
  int connections() const {
    int count = 0;
    for (int one = -1; (one = ::accept(socket_, nullptr, nullptr)) >= 0; ++count)
      ::close(one);
    return count;
  }

private:
  int socket_ = -1;
  std::uint16_t port_ = 0;
};

} // namespace

TEST_CASE_FIXTURE(launcher_bench, "cc: a server that never answers is waited for once a build") {
  const silent_server server;
  const auto compile = [&](int n) {
    const auto number = std::to_string(n);
    const auto given =
        shell("env HEARTH_REMOTE=" + server.url() + " " HEARTH_FRONT " cc gcc -DN=" + number +
              " -c a.c -o " + number + ".o");
    CHECK_MESSAGE(given.status == 0, given.err);
    CHECK(given.err.empty());
    CHECK(fs::exists(folder / (number + ".o")));
  };
  const auto begin = std::chrono::steady_clock::now();
  compile(0);
  CHECK(server.connections() > 0);
  for (int i = 1; i < 5; ++i)
    compile(i);
  const auto asked = server.connections();
  const bool is_paused = std::chrono::steady_clock::now() - begin < std::chrono::seconds(10);
  if (is_paused) CHECK(asked == 0); // else the pause may have ended on this machine
  // It is the pause that kept them from asking.
  fs::remove(fs::path(store) / "remote.pause");
  compile(5);
  CHECK(server.connections() > 0);
  CHECK(entries() == 12);
}

} // namespace cc_remote_test
