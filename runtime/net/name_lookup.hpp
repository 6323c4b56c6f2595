// Resolves host names without blocking the caller. The system's resolver may block for any time, so
// it runs on a thread of its own, which can be abandoned. Used from one thread; the answer comes on
// the lookup's thread.
#pragma once

#include "messages/error.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <sys/socket.h>
#include <vector>

namespace hearth::net {

struct socket_address {
  sockaddr_storage bytes{};
  socklen_t size = 0;
};

/// Where a host is.
struct host_addresses {
  std::string host; ///< its name or address, which a certificate has to have; empty: a Unix socket
  std::vector<socket_address> all; ///< at least one
};

/// Gives the addresses of a host, and may block. Errors: `remote`.
using name_resolver =
    std::function<expected<host_addresses>(const std::string& host, std::uint16_t port)>;

/// The system's resolver: /etc/hosts, DNS and other configured sources.
expected<host_addresses> resolve_by_system(const std::string& host, std::uint16_t port);

/// The address of a Unix socket; `parse_remote_url` has checked the length of the path.
socket_address unix_address(const std::string& path);

/// One lookup at a time.
class name_lookup {
public:
  explicit name_lookup(name_resolver resolve);
  name_lookup(const name_lookup&) = delete;
  name_lookup& operator=(const name_lookup&) = delete;
  ~name_lookup() { stop(); }

  using answer_callback = std::function<void(expected<host_addresses>)>;
  /// Starts a lookup; `answered` is called once, on its thread. Returns false, and calls nothing,
  /// when the last lookup still runs or no thread can be started.
  bool start(std::string host, std::uint16_t port, answer_callback answered);

  /// Joins the thread of a lookup that has answered. Detaches one that has not: it ends when the
  /// resolver returns, and its callback has to drop the answer.
  void stop();

private:
  struct running;

  name_resolver resolve_;
  std::shared_ptr<running> running_;
};

} // namespace hearth::net
