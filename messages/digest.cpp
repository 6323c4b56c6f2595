// The interface below `EVP`, which is older: the first digest by way of `EVP` starts OpenSSL's
// providers and tables of names, three million instructions, and a compile that is found takes two
// million in all.
#define OPENSSL_SUPPRESS_DEPRECATED

#include "messages/digest.hpp"

#include "messages/hex.hpp"

#include <algorithm>
#include <openssl/sha.h>
#include <type_traits>

namespace hearth {
namespace {

SHA256_CTX& as_context(std::array<std::uint32_t, 28>& state) {
  static_assert(std::is_trivially_copyable_v<SHA256_CTX>);
  static_assert(sizeof(SHA256_CTX) == sizeof state &&
                alignof(SHA256_CTX) <= alignof(std::uint32_t));
  return *reinterpret_cast<SHA256_CTX*>(state.data());
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

sha256_stream::sha256_stream() { SHA256_Init(&as_context(state_)); }

sha256_stream& sha256_stream::update(std::string_view bytes) {
  SHA256_Update(&as_context(state_), bytes.data(), bytes.size());
  return *this;
}

digest sha256_stream::finish() {
  digest result;
  SHA256_Final(result.bytes.data(), &as_context(state_));
  return result;
}

digest sha256(std::string_view bytes) { return sha256_stream{}.update(bytes).finish(); }

} // namespace hearth
