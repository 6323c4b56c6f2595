#include "bench/peers/free_port.hpp"

#include "runtime/os/files/descriptor.hpp"

#include <netinet/in.h>
#include <stdexcept>
#include <sys/socket.h>

namespace hearth::bench {

std::uint16_t free_port() {
  const os::descriptor probe(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const at = reinterpret_cast<sockaddr*>(&address);
  if (::bind(probe.get(), at, size) != 0 || ::getsockname(probe.get(), at, &size) != 0)
    throw std::runtime_error("no free port on 127.0.0.1");
  return ntohs(address.sin_port);
}

} // namespace hearth::bench
