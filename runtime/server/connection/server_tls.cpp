#include "runtime/os/files/plain_file.hpp"
#include "runtime/server/connection/listener.hpp"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <string>

namespace hearth::server {
namespace {

tl::unexpected<error> refuse(std::string_view what, const std::filesystem::path& file) {
  const auto code = ::ERR_peek_last_error();
  const char* const reason = code == 0 ? nullptr : ::ERR_reason_error_string(code);
  ::ERR_clear_error();
  return fail(errc::io, "cannot use the " + std::string(what) + ' ' + file.string() + ": " +
                            (reason ? reason : "it cannot be read") + "; wanted a PEM file");
}

// A key with a passphrase must fail, not ask on the terminal.
int no_passphrase(char*, int, int, void*) { return 0; }

expected<void> check_readable(const std::filesystem::path& file, std::string_view what) {
  if (auto good = os::open_regular(file); !good) return fail(good.error().within(what));
  return {};
}

expected<void> identify(SSL_CTX* context, const listener_settings& settings) {
  for (const auto& [what, file] :
       {std::pair{"certificate", &settings.certificate_file}, {"key", &settings.key_file}})
    if (auto good = check_readable(*file, what); !good) return good;
  if (::SSL_CTX_use_certificate_chain_file(context, settings.certificate_file.c_str()) != 1)
    return refuse("certificate", settings.certificate_file);
  if (::SSL_CTX_use_PrivateKey_file(context, settings.key_file.c_str(), SSL_FILETYPE_PEM) != 1 ||
      ::SSL_CTX_check_private_key(context) != 1)
    return refuse("key", settings.key_file);
  return {};
}

expected<void> ask_for_certificates(SSL_CTX* context, const listener_settings& settings) {
  const auto& file = settings.client_ca_file;
  if (file.empty()) return {};
  if (auto good = check_readable(file, "the CAs of clients"); !good) return good;
  if (::SSL_CTX_load_verify_file(context, file.c_str()) != 1) return refuse("CA file", file);
  ::SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  return {};
}

} // namespace

expected<net::tls_context> server_tls(const listener_settings& settings) {
  if (settings.certificate_file.empty()) return net::tls_context{};
  auto made = std::make_shared<boost::asio::ssl::context>(boost::asio::ssl::context::tls_server);
  auto* const context = made->native_handle();
  ::SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  ::SSL_CTX_set_default_passwd_cb(context, no_passphrase);
  if (auto good = identify(context, settings); !good) return fail(good.error());
  if (auto good = ask_for_certificates(context, settings); !good) return fail(good.error());
  return made;
}

} // namespace hearth::server
