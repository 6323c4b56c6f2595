// The address and the credentials of the remote tier, from a URL and files. Plain value; pure
// functions except the reading of a secret; any thread. No text from here contains the password.
#pragma once

#include "messages/error.hpp"
#include "storage/resp/cluster_slots.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace hearth::net {

enum class remote_transport : std::uint8_t { tcp, tls, unix_socket };

enum class remote_form : std::uint8_t {
  server,   ///< one server, at `host` or `socket_path`
  cluster,  ///< a Redis Cluster, some of whose nodes are `hosts`
  sentinel, ///< the server that the sentinels at `hosts` call the master `master`
};

struct remote_endpoint {
  remote_transport transport = remote_transport::tcp;
  remote_form form = remote_form::server;
  bool wants_hearth = false;                   ///< a `hearth serve`; any other server is refused
  std::vector<storage::cluster_address> hosts; ///< of a cluster, or sentinels
  std::string master;                          ///< name of the watched master
  std::string host;                            ///< a name or an address, IPv6 without brackets
  std::uint16_t port = 6379;
  std::string socket_path;
  std::uint32_t database = 0;
  std::string user; ///< empty: the server's default user
  std::string password;

  // Settings of TLS, at least 1.2. Files are PEM.
  bool verify = true;                     ///< checks the certificate's chain and name
  std::filesystem::path ca_file;          ///< the trusted CAs; empty: those of the system
  std::filesystem::path certificate_file; ///< the client's, if the server asks for one
  std::filesystem::path key_file;         ///< the key of `certificate_file`

  std::chrono::milliseconds connect_deadline{2000}; ///< time limit, greeting included
  std::uint64_t max_reply_bytes = 512u << 20;       ///< bound on one reply
  std::uint64_t max_waiting_bytes = 256u << 20;     ///< bound on unanswered commands, per lane
  std::uint64_t jitter_seed = 0;                    ///< of the pauses before a node is tried again
};

/// `redis://[[USER:]PASSWORD@]HOST[:PORT][/DATABASE]`, the same with `rediss://` (TLS), and
/// `redis+unix://[[USER:]PASSWORD@]/PATH`; `?db=N` is the database, too. A cluster:
/// `redis+cluster://[[USER:]PASSWORD@]HOST[:PORT],...` or `rediss+cluster://`, with some of its
/// nodes. What sentinels watch:
/// `redis+sentinel://[[USER:]PASSWORD@]HOST[:PORT],.../MASTER[/DATABASE]` or `rediss+sentinel://`,
/// with TLS to the sentinels, too; user and password are the master's. `hearth://`, `hearths://`
/// and `hearth+unix://` are `redis://`, `rediss://` and `redis+unix://` to a `hearth serve` and no
/// other server. USER, PASSWORD and PATH may contain %XX, an IPv6 address is in brackets. Errors:
/// `invalid_argument`, which names the wrong part without quoting it.
expected<remote_endpoint> parse_remote_url(std::string_view url);

/// The endpoint for logs and errors: "rediss://host:6380/2", "redis+cluster://a:7000,b:7000",
/// without user and password.
std::string describe(const remote_endpoint& endpoint);

/// The password in a small file of one line. Errors: those of reading; `malformed` when it is empty
/// or has a second line.
expected<std::string> read_secret_file(const std::filesystem::path& path);

} // namespace hearth::net
