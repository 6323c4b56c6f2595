#include "runtime/net/tls_context.hpp"

#include <arpa/inet.h>
#include <openssl/x509v3.h>

namespace hearth::net {
namespace {

namespace ssl = boost::asio::ssl;

bool is_address(const std::string& host) {
  in6_addr bytes;
  return ::inet_pton(AF_INET, host.c_str(), &bytes) == 1 ||
         ::inet_pton(AF_INET6, host.c_str(), &bytes) == 1;
}

expected<void> trust(SSL_CTX* context, const remote_endpoint& endpoint) {
  ::SSL_CTX_set_verify(context, endpoint.verify ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, nullptr);
  if (!endpoint.verify) return {};
  if (endpoint.ca_file.empty()) {
    ::SSL_CTX_set_default_verify_paths(context);
    return {};
  }
  return trust_file(context, endpoint.ca_file);
}

expected<void> identify(SSL_CTX* context, const remote_endpoint& endpoint) {
  const auto& certificate = endpoint.certificate_file;
  const auto& key = endpoint.key_file;
  if (certificate.empty() && key.empty()) return {};
  if (certificate.empty() || key.empty())
    return fail(errc::invalid_argument,
                "the remote's client certificate and its key file go together: give both");
  return use_certificate(context, certificate, key, "the remote's client certificate");
}

} // namespace

expected<tls_context> make_tls_context(const remote_endpoint& endpoint) {
  auto context = new_tls_context(ssl::context::tls_client);
  if (!context) return context;
  auto* native = (*context)->native_handle();
  if (auto done = trust(native, endpoint); !done) return fail(done.error());
  if (auto done = identify(native, endpoint); !done) return fail(done.error());
  return context;
}

void name_peer(SSL* session, std::string host, bool verify) {
  const bool by_address = is_address(host);
  // Sets the Server Name Indication, as the macro SSL_set_tlsext_host_name does.
  if (!by_address)
    ::SSL_ctrl(session, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name, host.data());
  if (!verify) return;
  ::SSL_set_hostflags(session, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  if (by_address)
    ::X509_VERIFY_PARAM_set1_ip_asc(::SSL_get0_param(session), host.c_str());
  else
    ::SSL_set1_host(session, host.c_str());
}

std::string certificate_problem(const SSL* session) {
  const long result = ::SSL_get_verify_result(session);
  return result == X509_V_OK ? std::string{} : ::X509_verify_cert_error_string(result);
}

} // namespace hearth::net
