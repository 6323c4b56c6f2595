// What clients and servers of TLS have in common: a context, and the files that it loads. Any
// thread.
#pragma once

#include "messages/error.hpp"

#include <filesystem>
#include <memory>
#include <string_view>
#include <utility> // Boost 1.74 does not include it under C++20

#include <boost/asio/ssl/context.hpp>

namespace hearth::net {

using tls_context = std::shared_ptr<boost::asio::ssl::context>;

/// A context of TLS 1.2 or later. A key with a passphrase is an error; nobody is asked for it.
/// Errors: `internal`.
expected<tls_context> new_tls_context(boost::asio::ssl::context::method method);

/// Shows this certificate to peers, with its key. Errors: `io` with `whose` ("the remote's client
/// certificate") and the file's name, for a file that is no PEM, or a key of another certificate.
expected<void> use_certificate(SSL_CTX* context, const std::filesystem::path& certificate,
                               const std::filesystem::path& key, std::string_view whose);

/// Trusts the certificates that the CAs of this file have signed. Errors: `io`.
expected<void> trust_file(SSL_CTX* context, const std::filesystem::path& file);

} // namespace hearth::net
