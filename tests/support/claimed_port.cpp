#include "tests/support/claimed_port.hpp"

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <netinet/in.h>
#include <sys/socket.h>

namespace hearth::test {

// Bound without SO_REUSEADDR, so that the port is nobody's; with it from then on.
claimed_port::claimed_port()
    : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* plain = reinterpret_cast<sockaddr*>(&address);
  REQUIRE(::bind(socket_.get(), plain, size) == 0);
  REQUIRE(::getsockname(socket_.get(), plain, &size) == 0);
  const int yes = 1;
  REQUIRE(::setsockopt(socket_.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == 0);
  number_ = ntohs(address.sin_port);
}

} // namespace hearth::test
