#include "runtime/net/name_lookup.hpp"
#include "runtime/server/connection/listener.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

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

// The name that a socket was bound to.
net::socket_address bound_address(int socket) {
  net::socket_address at;
  at.size = sizeof at.bytes;
  if (::getsockname(socket, reinterpret_cast<sockaddr*>(&at.bytes), &at.size) != 0) at.size = 0;
  return at;
}

bool is_listening(int socket) {
  int yes = 0;
  socklen_t size = sizeof yes;
  return ::getsockopt(socket, SOL_SOCKET, SO_ACCEPTCONN, &yes, &size) == 0 && yes != 0;
}

bool is_same(const net::socket_address& a, const net::socket_address& b) {
  if (a.bytes.ss_family != b.bytes.ss_family) return false;
  if (a.bytes.ss_family == AF_UNIX)
    return std::strcmp(reinterpret_cast<const sockaddr_un&>(a.bytes).sun_path,
                       reinterpret_cast<const sockaddr_un&>(b.bytes).sun_path) == 0;
  return a.size == b.size && std::memcmp(&a.bytes, &b.bytes, a.size) == 0;
}

int number_in(const char* variable) {
  const char* const text = std::getenv(variable);
  return text ? std::atoi(text) : 0;
}

// A listening socket of this address among those that the service manager has passed; invalid:
// there is none.
os::descriptor passed_socket(const net::socket_address& at) {
  constexpr int first = 3;
  const int count = number_in("LISTEN_PID") == ::getpid() ? number_in("LISTEN_FDS") : 0;
  for (int socket = first; socket < first + count; ++socket)
    if (is_listening(socket) && is_same(bound_address(socket), at)) {
      os::descriptor own(::fcntl(socket, F_DUPFD_CLOEXEC, 0));
      ::fcntl(own.get(), F_SETFL, ::fcntl(own.get(), F_GETFL) | O_NONBLOCK);
      return own;
    }
  return os::descriptor{};
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

bool is_other_file(const std::string& path) {
  struct stat about {};
  return ::lstat(path.c_str(), &about) == 0 && !S_ISSOCK(about.st_mode);
}

expected<listening_socket> listen_at_path(const std::string& address) {
  const auto path = address.substr(std::string_view("unix:").size());
  if (path.empty() || path[0] != '/' || path.size() >= sizeof(sockaddr_un::sun_path))
    return fail(errc::invalid_argument,
                address + " is no Unix socket's address: unix:/PATH, of at most 107 bytes");
  const auto at = net::unix_address(path);
  if (auto passed = passed_socket(at)) return listening_socket{std::move(passed), address};
  if (is_socket(path) && !is_alive(at)) ::unlink(path.c_str());
  if (is_other_file(path))
    return fail(errc::busy, "cannot listen at " + address +
                                ": there is a file that is no socket; move it away, or choose "
                                "another path");
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
  const auto at = bound_address(socket);
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
  const auto& first = found->all.front();
  if (auto passed = passed_socket(first)) return listening_socket{std::move(passed), address};
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
