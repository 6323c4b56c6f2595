#include "runtime/net/tls_files.hpp"
#include "runtime/server/connection/listener.hpp"

#include <openssl/ssl.h>

namespace hearth::server {

expected<net::tls_context> server_tls(const listener_settings& settings) {
  if (settings.certificate_file.empty()) return net::tls_context{};
  auto made = net::new_tls_context(boost::asio::ssl::context::tls_server);
  if (!made) return made;
  auto* const context = (*made)->native_handle();
  if (auto good = net::use_certificate(context, settings.certificate_file, settings.key_file,
                                       "the listener's certificate");
      !good)
    return fail(good.error());
  if (settings.client_ca_file.empty()) return made;
  if (auto good = net::trust_file(context, settings.client_ca_file); !good)
    return fail(good.error());
  ::SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  return made;
}

} // namespace hearth::server
