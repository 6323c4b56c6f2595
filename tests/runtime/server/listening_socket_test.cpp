// Sockets to listen at: those that the service manager has passed, and new ones.
#include "runtime/server/connection/listener.hpp"
#include "tests/support/temporary_directory.hpp"

#include <doctest/doctest.h>

#include <arpa/inet.h>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <netinet/in.h>
#include <string>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

namespace listening_socket_test {

using namespace hearth;
using namespace hearth::server;
using namespace hearth::test;

namespace {

// The system's number of a socket, which no two have.
std::uint64_t cookie(int socket) {
  std::uint64_t number = 0;
  socklen_t size = sizeof number;
  REQUIRE(::getsockopt(socket, SOL_SOCKET, SO_COOKIE, &number, &size) == 0);
  return number;
}

// Says, as a service manager does, that all descriptors up to this one are passed sockets.
class passed_up_to {
public:
  explicit passed_up_to(int last, pid_t to = ::getpid()) {
    ::setenv("LISTEN_PID", std::to_string(to).c_str(), 1);
    ::setenv("LISTEN_FDS", std::to_string(last - 2).c_str(), 1);
  }
  passed_up_to(const passed_up_to&) = delete;
  passed_up_to& operator=(const passed_up_to&) = delete;
  ~passed_up_to() {
    ::unsetenv("LISTEN_PID");
    ::unsetenv("LISTEN_FDS");
  }
};

bool is_closed_by_exec(int socket) { return (::fcntl(socket, F_GETFD) & FD_CLOEXEC) != 0; }
bool never_blocks(int socket) { return (::fcntl(socket, F_GETFL) & O_NONBLOCK) != 0; }

} // namespace

TEST_CASE("a socket that the service manager has passed is used as it is") {
  const temporary_directory work;
  for (const auto& asked : {std::string("127.0.0.1:0"), "unix:" + (work / "sock").string()}) {
    const auto passed = listen_at(asked);
    REQUIRE(passed.has_value());
    const passed_up_to here(passed->socket.get());
    const auto used = listen_at(passed->address);
    REQUIRE(used.has_value());
    CHECK(used->socket.get() != passed->socket.get());
    CHECK(cookie(used->socket.get()) == cookie(passed->socket.get()));
    CHECK(used->address == passed->address);
    CHECK(is_closed_by_exec(used->socket.get()));
    CHECK(never_blocks(used->socket.get()));
  }
}

TEST_CASE("sockets that are passed to another process, or do not listen, are not used") {
  const auto passed = listen_at("127.0.0.1:0");
  REQUIRE(passed.has_value());
  {
    const passed_up_to parent(passed->socket.get(), ::getppid());
    CHECK(listen_at(passed->address).error().code() == errc::busy);
  }
  const os::descriptor bound(::socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  REQUIRE(::bind(bound.get(), reinterpret_cast<sockaddr*>(&address), size) == 0);
  REQUIRE(::getsockname(bound.get(), reinterpret_cast<sockaddr*>(&address), &size) == 0);
  const passed_up_to here(bound.get());
  CHECK(listen_at("127.0.0.1:" + std::to_string(ntohs(address.sin_port))).error().code() ==
        errc::busy);
}

TEST_CASE("a Unix socket is its owner's alone, and one that was left behind is replaced") {
  const temporary_directory work;
  const auto path = work / "sock";
  const auto address = "unix:" + path.string();
  auto first = listen_at(address);
  REQUIRE(first.has_value());
  struct stat about {};
  REQUIRE(::stat(path.c_str(), &about) == 0);
  CHECK((about.st_mode & 0777) == 0600);
  CHECK(listen_at(address).error().code() == errc::busy);
  first->socket = os::descriptor{};
  CHECK(listen_at(address).has_value());
}

TEST_CASE("listening: a file that is no socket is left alone, and named as what it is") {
  const temporary_directory work;
  const auto path = work / "redis.sock";
  std::ofstream(path) << "notes";
  const auto made = listen_at("unix:" + path.string());
  REQUIRE_FALSE(made);
  CHECK(made.error().text() == "cannot listen at unix:" + path.string() +
                                   ": there is a file that is no socket; move it away, or choose "
                                   "another path");
  CHECK(std::filesystem::file_size(path) == 5);
}

} // namespace listening_socket_test
