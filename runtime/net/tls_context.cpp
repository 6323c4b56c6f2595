#include "runtime/net/tls_context.hpp"

#include "runtime/os/files/plain_file.hpp"

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>

namespace hearth::net {
namespace {

namespace ssl = boost::asio::ssl;

tl::unexpected<error> refuse(const char* what, const std::filesystem::path& file) {
  const auto code = ::ERR_peek_last_error();
  const char* reason = code == 0 ? nullptr : ::ERR_reason_error_string(code);
  ::ERR_clear_error();
  return fail(errc::io, std::string("cannot use the ") + what + " " + file.string() + ": " +
                            (reason ? reason : "it cannot be read") + "; wanted a PEM file");
}

// A key with a passphrase must fail, not ask on the terminal.
int no_passphrase(char*, int, int, void*) { return 0; }

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
  if (auto good = os::open_regular(endpoint.ca_file); !good)
    return fail(good.error().within("the CA file"));
  if (::SSL_CTX_load_verify_file(context, endpoint.ca_file.c_str()) != 1)
    return refuse("CA file", endpoint.ca_file);
  return {};
}

expected<void> identify(SSL_CTX* context, const remote_endpoint& endpoint) {
  const auto& certificate = endpoint.certificate_file;
  const auto& key = endpoint.key_file;
  if (certificate.empty() && key.empty()) return {};
  if (certificate.empty() || key.empty())
    return fail(errc::invalid_argument,
                "the remote's client certificate and its key file go together: give both");
  for (const auto* file : {&certificate, &key})
    if (auto good = os::open_regular(*file); !good)
      return fail(good.error().within("the remote's client certificate"));
  if (::SSL_CTX_use_certificate_chain_file(context, certificate.c_str()) != 1)
    return refuse("certificate file", certificate);
  if (::SSL_CTX_use_PrivateKey_file(context, key.c_str(), SSL_FILETYPE_PEM) != 1 ||
      ::SSL_CTX_check_private_key(context) != 1)
    return refuse("key file", key);
  return {};
}

} // namespace

expected<tls_context> make_tls_context(const remote_endpoint& endpoint) {
  ::ERR_clear_error();
  boost::asio::ssl::context* made = nullptr;
  try {
    made = new ssl::context(ssl::context::tls_client);
  } catch (const boost::system::system_error& problem) {
    return fail(errc::internal, std::string("TLS cannot be used: ") + problem.what());
  }
  tls_context context(made);
  auto* native = context->native_handle();
  ::SSL_CTX_set_min_proto_version(native, TLS1_2_VERSION);
  ::SSL_CTX_set_default_passwd_cb(native, &no_passphrase);
  if (auto done = trust(native, endpoint); !done) return fail(done.error());
  if (auto done = identify(native, endpoint); !done) return fail(done.error());
  return context;
}

void name_peer(SSL* session, const remote_endpoint& endpoint) {
  const bool by_address = is_address(endpoint.host);
  auto name = endpoint.host;
  // Sets the Server Name Indication, as the macro SSL_set_tlsext_host_name does.
  if (!by_address)
    ::SSL_ctrl(session, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name, name.data());
  if (!endpoint.verify) return;
  ::SSL_set_hostflags(session, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  if (by_address)
    ::X509_VERIFY_PARAM_set1_ip_asc(::SSL_get0_param(session), endpoint.host.c_str());
  else
    ::SSL_set1_host(session, endpoint.host.c_str());
}

std::string certificate_problem(const SSL* session) {
  const long result = ::SSL_get_verify_result(session);
  return result == X509_V_OK ? std::string{} : ::X509_verify_cert_error_string(result);
}

} // namespace hearth::net
