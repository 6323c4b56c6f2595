// TLS with an endpoint's settings: at least 1.2, the chain and the host's name verified unless that
// is switched off. Created once, then used by the connections' thread.
#pragma once

#include "messages/error.hpp"
#include "runtime/net/remote_endpoint.hpp"
#include "runtime/net/tls_files.hpp"

#include <memory>
#include <string>
#include <utility> // Boost 1.74 does not include it under C++20

#include <boost/asio/ssl/context.hpp>

namespace hearth::net {

/// Errors: `invalid_argument` (a certificate without its key), `io` (a file that cannot be read or
/// contains no certificate or key), with the file's name.
expected<tls_context> make_tls_context(const remote_endpoint& endpoint);

/// Sets the name or the address of a session's peer, and that its certificate has to have it.
void name_peer(SSL* session, std::string host, bool verify);

/// The problem with the peer's certificate; empty when there is none.
std::string certificate_problem(const SSL* session);

} // namespace hearth::net
