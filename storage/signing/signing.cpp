#include "storage/signing/signing.hpp"

#include "messages/hex.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <optional>

namespace hearth::storage {
namespace {

constexpr std::size_t max_id_bytes = 32;
constexpr std::size_t min_secret_bytes = 16;
constexpr std::size_t max_secret_bytes = 1024;

bool is_id(std::string_view text) {
  constexpr std::string_view allowed =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
  return !text.empty() && text.size() <= max_id_bytes &&
         text.find_first_not_of(allowed) == std::string_view::npos;
}

std::optional<std::string> from_hex(std::string_view digits) {
  if (digits.size() % 2 != 0) return {};
  std::string bytes;
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    const auto byte = hex_byte(digits[i], digits[i + 1]);
    if (!byte) return {};
    bytes += *byte;
  }
  return bytes;
}

std::string_view without_blanks(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

tl::unexpected<error> bad_line(std::size_t number, const char* what) {
  return fail(errc::malformed, "line " + std::to_string(number) + ": " + what);
}

expected<signing_key> parse_line(std::string_view line, std::size_t number) {
  const auto blank = line.find_first_of(" \t");
  const auto id = line.substr(0, blank);
  if (blank == std::string_view::npos || !is_id(id))
    return bad_line(number, "wanted an id of 1 to 32 of A-Z a-z 0-9 . _ - and hexadecimal digits");
  auto secret = from_hex(without_blanks(line.substr(blank)));
  if (!secret) return bad_line(number, "the secret is not hexadecimal digits, two a byte");
  if (secret->size() < min_secret_bytes || secret->size() > max_secret_bytes)
    return bad_line(number, "a secret has 16 to 1024 bytes, two digits each");
  return signing_key{std::string(id), std::move(*secret)};
}

} // namespace

expected<signing_keys> parse_signing_keys(std::string_view text) {
  signing_keys keys;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const auto end = std::min(text.find('\n'), text.size());
    const auto line = without_blanks(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty() || line.front() == '#') continue;
    auto key = parse_line(line, number);
    if (!key) return fail(key.error());
    const auto same = [&](const signing_key& other) { return other.id == key->id; };
    if (std::any_of(keys.begin(), keys.end(), same)) return bad_line(number, "that id came before");
    keys.push_back(std::move(*key));
  }
  return keys;
}

std::string sign_digest(const digest& of, const signing_key& key) {
  std::string signed_bytes(signature_label);
  signed_bytes += static_cast<char>(signature_algorithm::hmac_sha256);
  signed_bytes += static_cast<char>(key.id.size());
  signed_bytes += key.id;
  signed_bytes += of.view();
  std::array<unsigned char, EVP_MAX_MD_SIZE> mac;
  unsigned size = 0;
  const auto* made = HMAC(EVP_sha256(), key.secret.data(), static_cast<int>(key.secret.size()),
                          reinterpret_cast<const unsigned char*>(signed_bytes.data()),
                          signed_bytes.size(), mac.data(), &size);
  if (!made) std::abort(); // only when memory is exhausted or the library is broken
  return {reinterpret_cast<const char*>(mac.data()), size};
}

bool is_signed_by(const signing_keys& keys, const signature& made, const digest& of) {
  if (made.algorithm != static_cast<std::uint64_t>(signature_algorithm::hmac_sha256)) return false;
  const auto key = std::find_if(keys.begin(), keys.end(),
                                [&](const auto& one) { return one.id == made.key_id; });
  if (key == keys.end()) return false;
  const auto right = sign_digest(of, *key);
  return right.size() == made.bytes.size() &&
         CRYPTO_memcmp(right.data(), made.bytes.data(), right.size()) == 0;
}

} // namespace hearth::storage
