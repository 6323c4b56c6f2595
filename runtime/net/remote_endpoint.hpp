// Where the remote tier is and how to get in: what a URL says, and the files beside it. Plain
// value; pure functions but for the reading of a secret; any thread. No text that comes from here
// has the password in it.
#pragma once

#include "messages/error.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace hearth::net {

enum class remote_transport : std::uint8_t { tcp, tls, unix_socket };

struct remote_endpoint {
  remote_transport transport = remote_transport::tcp;
  std::string host; ///< a name or an address, IPv6 without brackets
  std::uint16_t port = 6379;
  std::string socket_path;
  std::uint32_t database = 0;
  std::string user; ///< empty: the server's default user
  std::string password;

  // Of TLS, at least 1.2. Files are PEM.
  bool verify = true;                     ///< the certificate's chain and its host name
  std::filesystem::path ca_file;          ///< who is trusted; empty: whom the system trusts
  std::filesystem::path certificate_file; ///< ours, for a server that asks
  std::filesystem::path key_file;         ///< of ours

  std::chrono::milliseconds connect_deadline{2000}; ///< for a connection, greeting included
  std::uint64_t max_reply_bytes = 512u << 20;       ///< of one reply
  std::uint64_t max_waiting_bytes = 256u << 20;     ///< of commands without an answer, each lane
};

/// `redis://[[USER:]PASSWORD@]HOST[:PORT][/DATABASE]`, the same with `rediss://` (TLS), and
/// `redis+unix://[[USER:]PASSWORD@]/PATH`; `?db=N` is the database, too. USER, PASSWORD and PATH
/// may have %XX, an IPv6 address stands in brackets. Errors: `invalid_argument`, which part is
/// wrong, without quoting any.
expected<remote_endpoint> parse_remote_url(std::string_view url);

/// The endpoint for logs and errors: "rediss://host:6380/2", without user and password.
std::string describe(const remote_endpoint& endpoint);

/// The first line of a small file that keeps a password. Errors: of the file, `malformed` when it
/// is empty or has a second line.
expected<std::string> read_secret_file(const std::filesystem::path& path);

} // namespace hearth::net
