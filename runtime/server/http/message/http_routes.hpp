// From a request's method and target to what it is about. Pure functions, any thread.
//
// A target is taken as it is: `%2e`, `//` and `..` are bytes of a key. Every key begins with a mark
// of HTTP, so that it meets no key of another protocol, and two targets have two keys, except:
// `/cas/` blobs are shared by all prefixes, and Turbo's artifacts ignore what is neither
// `slug` nor `teamId` in the query.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace hearth::server {

enum class route_kind : std::uint8_t {
  entry,          ///< any other path: ccache, Gradle, sccache's WebDAV
  action_result,  ///< `PREFIX/ac/` and 64 hexadecimal digits
  blob,           ///< `PREFIX/cas/` and the SHA-256 of the content
  turbo_artifact, ///< `PREFIX/v8/artifacts/HASH`
  turbo_events,   ///< `PREFIX/v8/artifacts/events`
  turbo_status,   ///< `PREFIX/v8/artifacts/status`
  nx_artifact,    ///< `PREFIX/v1/cache/` and a decimal number
  metrics,        ///< `/metrics`
  liveness,       ///< `/healthz`, `/livez`
  readiness,      ///< `/readyz`
  status_json,    ///< `/status.json`
  status_page,    ///< `/`
};

struct http_route {
  route_kind kind = route_kind::entry;
  std::string key;         ///< of the entry; empty for a route without one
  std::string blob_digest; ///< of a blob: 64 lower-case hexadecimal digits
  /// Whether the clients of this route store on the connection on which they missed, so that a miss
  /// can be held. Bazel, Turbo and Nx do not.
  bool can_hold = false;

  bool has_entry() const noexcept { return !key.empty(); }
  bool is_turbo() const noexcept {
    return kind == route_kind::turbo_artifact || kind == route_kind::turbo_events ||
           kind == route_kind::turbo_status;
  }
  /// Whether it is answered without credentials: it shows nothing that is stored.
  bool is_open() const noexcept {
    return kind == route_kind::liveness || kind == route_kind::readiness ||
           kind == route_kind::status_page;
  }
};

/// The route of a target that begins with `/`.
http_route route_of(std::string_view target);

/// Whether this is a SHA-256 in 64 lower-case hexadecimal digits, as Bazel names blobs and results.
bool is_digest_name(std::string_view name) noexcept;

/// The key of a blob, for any prefix.
std::string blob_key(std::string_view digest);

/// The methods of a route, as the `Allow` header has them.
std::string_view allowed_methods(const http_route& route) noexcept;
/// Whether the method, in capitals, is one of them.
bool allows(const http_route& route, std::string_view method) noexcept;

} // namespace hearth::server
