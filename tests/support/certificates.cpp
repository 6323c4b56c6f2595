#include "tests/support/certificates.hpp"

#include <cstdio>
#include <doctest/doctest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

namespace hearth::test {
namespace {

template <auto Free>
struct freed_by {
  template <class T>
  void operator()(T* object) const {
    Free(object);
  }
};
using key_ptr = std::unique_ptr<EVP_PKEY, freed_by<EVP_PKEY_free>>;
using certificate_ptr = std::unique_ptr<X509, freed_by<X509_free>>;
using file_ptr = std::unique_ptr<FILE, int (*)(FILE*)>;

void add_extension(X509* to, X509* issuer, int kind, const char* text) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, to, nullptr, nullptr, 0);
  auto* extension = X509V3_EXT_conf_nid(nullptr, &context, kind, text);
  REQUIRE(extension != nullptr);
  X509_add_ext(to, extension, -1);
  X509_EXTENSION_free(extension);
}

void set_name(X509_NAME* to, const std::string& name) {
  X509_NAME_add_entry_by_txt(to, "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
}

certificate_ptr make_certificate(const std::string& name, EVP_PKEY* key, long from, long until) {
  static long serial = 1;
  certificate_ptr made(X509_new());
  X509_set_version(made.get(), X509_VERSION_3);
  ASN1_INTEGER_set(X509_get_serialNumber(made.get()), serial++);
  X509_gmtime_adj(X509_getm_notBefore(made.get()), from);
  X509_gmtime_adj(X509_getm_notAfter(made.get()), until);
  X509_set_pubkey(made.get(), key);
  set_name(X509_get_subject_name(made.get()), name);
  return made;
}

void write_key(const std::filesystem::path& path, EVP_PKEY* key) {
  const file_ptr file(std::fopen(path.c_str(), "w"), &std::fclose);
  REQUIRE(file);
  REQUIRE(PEM_write_PrivateKey(file.get(), key, nullptr, nullptr, 0, nullptr, nullptr) == 1);
}

void write_certificate(const std::filesystem::path& path, X509* certificate) {
  const file_ptr file(std::fopen(path.c_str(), "w"), &std::fclose);
  REQUIRE(file);
  REQUIRE(PEM_write_X509(file.get(), certificate) == 1);
}

} // namespace

struct certificate_authority::parts {
  std::filesystem::path directory;
  std::string name;
  key_ptr key{EVP_EC_gen("P-256")};
  certificate_ptr certificate;
};

certificate_authority::certificate_authority(std::filesystem::path directory, std::string name)
    : parts_(std::make_unique<parts>()) {
  parts_->directory = std::move(directory);
  parts_->name = std::move(name);
  auto made = make_certificate(parts_->name, parts_->key.get(), -7200, 7200);
  X509_set_issuer_name(made.get(), X509_get_subject_name(made.get()));
  add_extension(made.get(), made.get(), NID_basic_constraints, "critical,CA:TRUE");
  REQUIRE(X509_sign(made.get(), parts_->key.get(), EVP_sha256()) > 0);
  write_certificate(file(), made.get());
  parts_->certificate = std::move(made);
}

certificate_authority::certificate_authority(certificate_authority&&) noexcept = default;
certificate_authority::~certificate_authority() = default;

std::filesystem::path certificate_authority::file() const {
  return parts_->directory / (parts_->name + ".ca.pem");
}

certificate_files certificate_authority::issue(const std::string& name, const std::string& names,
                                               long from_seconds, long until_seconds) {
  const key_ptr key(EVP_EC_gen("P-256"));
  const auto made = make_certificate(name, key.get(), from_seconds, until_seconds);
  X509_set_issuer_name(made.get(), X509_get_subject_name(parts_->certificate.get()));
  add_extension(made.get(), parts_->certificate.get(), NID_subject_alt_name, names.c_str());
  REQUIRE(X509_sign(made.get(), parts_->key.get(), EVP_sha256()) > 0);
  const auto stem = parts_->name + "." + name;
  const certificate_files files{parts_->directory / (stem + ".pem"),
                                parts_->directory / (stem + ".key.pem")};
  write_certificate(files.certificate, made.get());
  write_key(files.key, key.get());
  return files;
}

} // namespace hearth::test
