// TLS as an endpoint wants it: at least 1.2, the chain and the host's name verified unless that is
// switched off. Made once, then used by the connections' thread.
#pragma once

#include "messages/error.hpp"
#include "runtime/net/remote_endpoint.hpp"

#include <memory>
#include <string>
#include <utility> // Boost 1.74 does not include it under C++20

#include <boost/asio/ssl/context.hpp>

namespace hearth::net {

using tls_context = std::shared_ptr<boost::asio::ssl::context>;

/// Errors: `invalid_argument` (a certificate without its key), `io` (a file that cannot be read or
/// has no certificate or key in it), by the file's name.
expected<tls_context> make_tls_context(const remote_endpoint& endpoint);

/// Tells a session whom it talks to, and to insist on it when the endpoint wants that.
void name_peer(SSL* session, const remote_endpoint& endpoint);

/// What was wrong with the peer's certificate; empty when nothing was.
std::string certificate_problem(const SSL* session);

} // namespace hearth::net
