#include "runtime/net/tls_files.hpp"

#include "runtime/os/files/plain_file.hpp"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509err.h>

#include <string>

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

// Whether OpenSSL has just refused a key for that.
bool is_of_other_certificate() {
  const auto code = ::ERR_peek_last_error();
  const bool is_it =
      ERR_GET_LIB(code) == ERR_LIB_X509 && (ERR_GET_REASON(code) == X509_R_KEY_VALUES_MISMATCH ||
                                            ERR_GET_REASON(code) == X509_R_KEY_TYPE_MISMATCH);
  if (is_it) ::ERR_clear_error();
  return is_it;
}

// A key with a passphrase must fail, not ask on the terminal.
int no_passphrase(char*, int, int, void*) { return 0; }

} // namespace

expected<tls_context> new_tls_context(ssl::context::method method) {
  ::ERR_clear_error();
  tls_context made;
  try {
    made = std::make_shared<ssl::context>(method);
  } catch (const boost::system::system_error& problem) {
    return fail(errc::internal, std::string("TLS cannot be used: ") + problem.what());
  }
  ::SSL_CTX_set_min_proto_version(made->native_handle(), TLS1_2_VERSION);
  ::SSL_CTX_set_default_passwd_cb(made->native_handle(), &no_passphrase);
  return made;
}

expected<void> use_certificate(SSL_CTX* context, const std::filesystem::path& certificate,
                               const std::filesystem::path& key, std::string_view whose) {
  for (const auto* file : {&certificate, &key})
    if (auto good = os::open_regular(*file); !good) return fail(good.error().within(whose));
  if (::SSL_CTX_use_certificate_chain_file(context, certificate.c_str()) != 1)
    return refuse("certificate file", certificate);
  if (::SSL_CTX_use_PrivateKey_file(context, key.c_str(), SSL_FILETYPE_PEM) != 1 ||
      ::SSL_CTX_check_private_key(context) != 1)
    return is_of_other_certificate()
               ? fail(errc::io, "cannot use the key file " + key.string() +
                                    ": it is not the key of the certificate in " +
                                    certificate.string())
               : refuse("key file", key);
  return {};
}

expected<void> trust_file(SSL_CTX* context, const std::filesystem::path& file) {
  if (auto good = os::open_regular(file); !good) return fail(good.error().within("the CA file"));
  if (::SSL_CTX_load_verify_file(context, file.c_str()) != 1) return refuse("CA file", file);
  return {};
}

} // namespace hearth::net
