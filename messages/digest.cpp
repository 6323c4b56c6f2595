#include "messages/digest.hpp"

#include "messages/hex.hpp"

#include <algorithm>
#include <cstdlib>
#include <openssl/evp.h>
#include <utility>

namespace hearth {
namespace {

EVP_MD_CTX* as_context(void* context) { return static_cast<EVP_MD_CTX*>(context); }

// Looked up once: OpenSSL looks `EVP_sha256()` up each time that it is used.
const EVP_MD* algorithm() {
  static const EVP_MD* const found = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  return found;
}

// An unused context, kept for the thread's next digest.
struct spare_context {
  EVP_MD_CTX* context = nullptr;
  ~spare_context() { EVP_MD_CTX_free(std::exchange(context, nullptr)); }
};
thread_local spare_context spare;

// OpenSSL's SHA-256 fails only when memory or the library itself is broken.
void require(bool holds) {
  if (!holds) std::abort();
}

} // namespace

std::optional<digest> digest::of_bytes(std::string_view bytes) noexcept {
  digest made;
  if (bytes.size() != made.bytes.size()) return std::nullopt;
  std::copy(bytes.begin(), bytes.end(), made.bytes.begin());
  return made;
}

std::string digest::hex() const {
  std::string text;
  append_hex(text, view());
  return text;
}

std::string digest::base32() const {
  constexpr std::string_view digits = "abcdefghijklmnopqrstuvwxyz234567";
  std::string text;
  std::uint32_t pending = 0;
  int bits = 0;
  for (const auto byte : bytes) {
    pending = (pending << 8) | byte;
    for (bits += 8; bits >= 5; bits -= 5)
      text += digits[(pending >> (bits - 5)) & 31];
  }
  if (bits > 0) text += digits[(pending << (5 - bits)) & 31];
  return text;
}

sha256_stream::sha256_stream()
    : context_(std::exchange(spare.context, nullptr)) {
  if (!context_) context_ = EVP_MD_CTX_new();
  require(context_ && EVP_DigestInit_ex2(as_context(context_), algorithm(), nullptr) == 1);
}

sha256_stream::~sha256_stream() {
  if (spare.context)
    EVP_MD_CTX_free(as_context(context_));
  else
    spare.context = as_context(context_);
}

sha256_stream& sha256_stream::update(std::string_view bytes) {
  require(EVP_DigestUpdate(as_context(context_), bytes.data(), bytes.size()) == 1);
  return *this;
}

digest sha256_stream::finish() {
  digest result;
  unsigned size = 0;
  require(EVP_DigestFinal_ex(as_context(context_), result.bytes.data(), &size) == 1);
  return result;
}

digest sha256(std::string_view bytes) { return sha256_stream{}.update(bytes).finish(); }

} // namespace hearth
