// The settings of `hearth serve`, as its TOML file has them (docs/serve.md). Plain values and pure
// functions.
#pragma once

#include "messages/error.hpp"
#include "messages/log_level.hpp"
#include "runtime/api/config.hpp"
#include "runtime/server/access/identity.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hearth::server {

enum class protocol : std::uint8_t { resp, http, crsh };
inline constexpr std::size_t protocol_count = 3;
std::string_view to_string(protocol one) noexcept;

/// A place to listen at: `[[listen]]` in the file.
struct listener_settings {
  protocol speaks = protocol::resp;
  /// `HOST:PORT`, `[IPV6]:PORT` or `unix:/PATH`. Port 0: a free one.
  std::string address;
  std::filesystem::path certificate_file; ///< with `key_file`: TLS
  std::filesystem::path key_file;
  std::filesystem::path client_ca_file; ///< with TLS: clients show a certificate of these CAs
  bool certificate_users = false;       ///< the common name of a client's certificate is its user
  /// What clients without credentials may do; empty: nothing, they need credentials. Default:
  /// `writer`, or nothing where there is a users file.
  std::optional<user_role> anonymous;
  std::string anonymous_namespace; ///< empty: the trusted one
  bool hold_misses = false;        ///< for users whose entry is silent, and anonymous clients
  refused_writes refused = refused_writes::error;
  bool validate_results = false; ///< http: `/ac/` takes Bazel's ActionResults only

  bool is_unix() const noexcept { return address.starts_with("unix:"); }
};

struct limit_settings {
  std::uint64_t value_bytes = std::uint64_t{512} << 20;
  std::size_t header_bytes = 64u << 10; ///< http: request line and headers
  std::size_t connections = 10'000;     ///< of all listeners; more are refused
  std::size_t output_bytes = 1u << 20;  ///< a connection with more output waiting is not read
  std::uint64_t receiving_bytes = std::uint64_t{1} << 30; ///< of all large values being received
  std::uint64_t sending_bytes = std::uint64_t{1} << 30;   ///< of all large values being sent
  std::size_t pipelined_writes = 64;              ///< of a connection, that wait for the store
  std::chrono::milliseconds idle_time{0};         ///< between requests; zero: for ever
  std::chrono::milliseconds request_time{60'000}; ///< from a request's first byte to its last; zero
                                                  ///< for ever. A large value may take longer as
                                                  ///< long as it goes on.

  friend bool operator==(const limit_settings&, const limit_settings&) = default;
};

struct hold_settings {
  std::chrono::milliseconds wait{8'000};    ///< how long a miss waits for its holder
  std::chrono::milliseconds holder{60'000}; ///< then the lease goes to the next that waits
  std::size_t max_held = 1'000;             ///< waits at once; more are answered as misses

  friend bool operator==(const hold_settings&, const hold_settings&) = default;
};

struct server_settings {
  std::vector<listener_settings> listeners;
  std::filesystem::path users_file; ///< empty: anonymous clients alone
  config cache;                     ///< store, budgets, upstream (`cache.remote`)
  bool compress = false;            ///< values on disk, where that makes them smaller
  unsigned threads = 0;             ///< of connections; default: one per core
  limit_settings limits;
  hold_settings hold;
  std::chrono::milliseconds drain_deadline{10'000}; ///< after SIGTERM
  log_level log = log_level::info;
};

/// Parses the text of a settings file; relative paths become paths of its folder. Errors:
/// `malformed` with file, line and what is wrong (an unknown table or member with the nearest known
/// name, a wrong type, a value out of range, a size or time without a unit), `invalid_argument` for
/// what contradicts itself: no listener; two at one address; a certificate without its key, or at a
/// Unix socket; an address that is neither on loopback nor a Unix socket and lets anonymous clients
/// in without saying so (`anonymous` has to be given); a listener that lets nobody in; crsh on
/// anything but a Unix socket; `validate_results` without http; an upstream without a server;
/// values that may be stored and not received.
expected<server_settings> parse_server_settings(std::string_view text,
                                                const std::filesystem::path& file);
expected<server_settings> read_server_settings(const std::filesystem::path& file);

/// The host and port of `HOST:PORT` or `[IPV6]:PORT`. Errors: `malformed`.
struct host_and_port {
  std::string host;
  std::uint16_t port = 0;
};
expected<host_and_port> parse_address(std::string_view address);
/// Whether the host is a loopback address or `localhost`.
bool is_loopback(std::string_view host);

} // namespace hearth::server
