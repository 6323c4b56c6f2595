#include "runtime/net/name_lookup.hpp"
#include "runtime/server/connection/listener.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cerrno>

namespace hearth::server {
namespace {

constexpr int backlog = 1024;

error problem(const std::string& address, std::string_view what) {
  const int number = errno;
  if (number == EADDRINUSE)
    return {errc::busy, "cannot listen at " + address +
                            ": another process does; end it, or choose another address"};
  return error_of_errno(number, std::string(what) + ' ' + address);
}

const sockaddr* plain(const net::socket_address& at) {
  return reinterpret_cast<const sockaddr*>(&at.bytes);
}

expected<os::descriptor> open_socket(int family, const std::string& address) {
  os::descriptor made(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!made) return fail(problem(address, "cannot make a socket for"));
  return made;
}

// Whether somebody listens at a Unix socket.
bool is_alive(const net::socket_address& at) {
  const os::descriptor probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  return ::connect(probe.get(), plain(at), at.size) == 0 || errno == EAGAIN;
}

bool is_socket(const std::string& path) {
  struct stat about {};
  return ::lstat(path.c_str(), &about) == 0 && S_ISSOCK(about.st_mode);
}

expected<listening_socket> listen_at_path(const std::string& address) {
  const auto path = address.substr(std::string_view("unix:").size());
  if (path.empty() || path[0] != '/' || path.size() >= sizeof(sockaddr_un::sun_path))
    return fail(errc::invalid_argument,
                address + " is no Unix socket's address: unix:/PATH, of at most 107 bytes");
  const auto at = net::unix_address(path);
  if (is_socket(path) && !is_alive(at)) ::unlink(path.c_str());
  auto made = open_socket(AF_UNIX, address);
  if (!made) return fail(made.error());
  // Nobody else may connect between the two calls.
  const auto before = ::umask(0177);
  const int bound = ::bind(made->get(), plain(at), at.size);
  const int number = errno;
  ::umask(before);
  errno = number;
  if (bound != 0 || ::listen(made->get(), backlog) != 0)
    return fail(problem(address, "cannot listen at"));
  return listening_socket{std::move(*made), address};
}

// The address that the system gave.
std::string given_address(int socket, const std::string& host) {
  net::socket_address at;
  at.size = sizeof at.bytes;
  ::getsockname(socket, reinterpret_cast<sockaddr*>(&at.bytes), &at.size);
  const auto port = at.bytes.ss_family == AF_INET6
                        ? reinterpret_cast<const sockaddr_in6&>(at.bytes).sin6_port
                        : reinterpret_cast<const sockaddr_in&>(at.bytes).sin_port;
  const bool is_ipv6 = host.find(':') != std::string::npos;
  return (is_ipv6 ? '[' + host + ']' : host) + ':' + std::to_string(ntohs(port));
}

expected<listening_socket> listen_at_port(const std::string& address) {
  const auto at = parse_address(address);
  if (!at) return fail(at.error());
  const auto found = net::resolve_by_system(at->host, at->port);
  if (!found)
    return fail(errc::not_found, "cannot listen at " + address + ": " + found.error().text());
  const auto& first = found->front();
  auto made = open_socket(first.bytes.ss_family, address);
  if (!made) return fail(made.error());
  const int yes = 1;
  ::setsockopt(made->get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (::bind(made->get(), plain(first), first.size) != 0 || ::listen(made->get(), backlog) != 0)
    return fail(problem(address, "cannot listen at"));
  auto given = given_address(made->get(), at->host);
  return listening_socket{std::move(*made), std::move(given)};
}

} // namespace

expected<listening_socket> listen_at(const std::string& address) {
  return address.starts_with("unix:") ? listen_at_path(address) : listen_at_port(address);
}

} // namespace hearth::server
