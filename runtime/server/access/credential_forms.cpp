#include "runtime/server/access/credential_forms.hpp"

#include "messages/digest.hpp"
#include "runtime/server/access/users_file.hpp"
#include "storage/text/base64.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/rand.h>

namespace hearth::server {
namespace {

// The parameters of scrypt (RFC 7914).
struct scrypt_parameters {
  unsigned log2_n = 15;
  unsigned r = 8;
  unsigned p = 1;
};

struct scrypt_hash {
  scrypt_parameters cost;
  std::string salt;
  std::string hash;
};

constexpr std::string_view scrypt_prefix = "scrypt$";
constexpr std::string_view token_prefix = "sha256$";
constexpr std::size_t salt_bytes = 16, hash_bytes = 32, token_bytes = 32;
constexpr std::size_t min_salt_bytes = 8, max_salt_bytes = 64;
constexpr std::size_t min_hash_bytes = 32, max_hash_bytes = 64;
constexpr std::uint64_t max_scrypt_memory_bytes = std::uint64_t{128} << 20;
constexpr std::uint64_t max_scrypt_work = std::uint64_t{16} << 18; // N r p

bool is_affordable(const scrypt_parameters& cost) {
  if (cost.log2_n < 10 || cost.log2_n > 20 || cost.r < 1 || cost.r > 32 || cost.p < 1 ||
      cost.p > 16)
    return false;
  const auto blocks = (std::uint64_t{1} << cost.log2_n) * cost.r;
  return 128 * blocks <= max_scrypt_memory_bytes && blocks * cost.p <= max_scrypt_work;
}

// Removes the text up to the next '$', and the '$'.
std::string_view take_field(std::string_view& text) {
  const auto field = text.substr(0, text.find('$'));
  text.remove_prefix(std::min(field.size() + 1, text.size()));
  return field;
}

bool take_number(std::string_view& text, unsigned& number) {
  const auto digits = take_field(text);
  const auto* const end = digits.data() + digits.size();
  const auto [stop, problem] = std::from_chars(digits.data(), end, number);
  return problem == std::errc{} && stop == end;
}

bool take_bytes(std::string_view& text, std::size_t min, std::size_t max, std::string& bytes) {
  std::string padded(take_field(text));
  if (padded.size() > 2 * max) return false;
  padded.append((4 - padded.size() % 4) % 4, '=');
  auto decoded = storage::decode_base64(padded);
  if (!decoded || decoded->size() < min || decoded->size() > max) return false;
  bytes = std::move(*decoded);
  return true;
}

std::optional<scrypt_hash> parse_scrypt(std::string_view text) {
  if (!text.starts_with(scrypt_prefix)) return std::nullopt;
  text.remove_prefix(scrypt_prefix.size());
  scrypt_hash parsed;
  auto& cost = parsed.cost;
  const bool is_whole =
      take_number(text, cost.log2_n) && take_number(text, cost.r) && take_number(text, cost.p) &&
      take_bytes(text, min_salt_bytes, max_salt_bytes, parsed.salt) &&
      text.find('$') == text.npos && take_bytes(text, min_hash_bytes, max_hash_bytes, parsed.hash);
  if (!is_whole || !is_affordable(cost)) return std::nullopt;
  return parsed;
}

const unsigned char* octets_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}
unsigned char* octets_of(std::string& text) {
  return reinterpret_cast<unsigned char*>(text.data());
}

// The hash of a password; empty when OpenSSL refuses.
std::string scrypt_of(std::string_view password, std::string_view salt,
                      const scrypt_parameters& cost, std::size_t bytes) {
  // OpenSSL counts a little more than the table of 128 N r bytes.
  constexpr std::uint64_t openssl_max_bytes = max_scrypt_memory_bytes + (std::uint64_t{1} << 20);
  std::string hash(bytes, '\0');
  const int done = EVP_PBE_scrypt(password.data(), password.size(), octets_of(salt), salt.size(),
                                  std::uint64_t{1} << cost.log2_n, cost.r, cost.p,
                                  openssl_max_bytes, octets_of(hash), hash.size());
  return done == 1 ? hash : std::string{};
}

std::string unpadded_base64(std::string_view bytes) {
  auto text = storage::encode_base64(bytes);
  while (text.ends_with('='))
    text.pop_back();
  return text;
}

expected<std::string> random_bytes(std::size_t count) {
  std::string bytes(count, '\0');
  if (RAND_bytes(octets_of(bytes), static_cast<int>(count)) == 1) return bytes;
  return fail(errc::internal, "OpenSSL has no random bytes; see that /dev/urandom can be read");
}

} // namespace

bool is_user_name(std::string_view text) {
  constexpr std::string_view allowed =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
  return !text.empty() && text.size() <= max_user_name_bytes &&
         text.find_first_not_of(allowed) == text.npos;
}

bool is_password_hash(std::string_view text) { return parse_scrypt(text).has_value(); }

bool is_token_hash(std::string_view text) {
  if (!text.starts_with(token_prefix)) return false;
  text.remove_prefix(token_prefix.size());
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == text.npos;
}

expected<std::string> hash_password(std::string_view password) {
  if (password.empty() || password.size() > max_secret_bytes)
    return fail(errc::invalid_argument, "a password has 1 to 1024 bytes");
  const auto salt = random_bytes(salt_bytes);
  if (!salt) return salt;
  const scrypt_parameters cost;
  const auto hash = scrypt_of(password, *salt, cost, hash_bytes);
  if (hash.empty()) return fail(errc::internal, "OpenSSL cannot make an scrypt hash");
  std::string text(scrypt_prefix);
  for (const auto number : {cost.log2_n, cost.r, cost.p})
    text += std::to_string(number) + "$";
  return text + unpadded_base64(*salt) + "$" + unpadded_base64(hash);
}

bool matches_password(std::string_view password, std::string_view hash) {
  const auto wanted = parse_scrypt(hash);
  if (!wanted || password.empty() || password.size() > max_secret_bytes) return false;
  const auto made = scrypt_of(password, wanted->salt, wanted->cost, wanted->hash.size());
  return made.size() == wanted->hash.size() &&
         CRYPTO_memcmp(made.data(), wanted->hash.data(), made.size()) == 0;
}

expected<new_token> make_token() {
  const auto bytes = random_bytes(token_bytes);
  if (!bytes) return fail(bytes.error());
  auto token = unpadded_base64(*bytes);
  // The alphabet of RFC 4648, section 5, fits into URLs and headers.
  std::replace(token.begin(), token.end(), '+', '-');
  std::replace(token.begin(), token.end(), '/', '_');
  auto hash = hash_token(token);
  return new_token{std::move(token), std::move(hash)};
}

std::string hash_token(std::string_view token) {
  return std::string(token_prefix) + sha256(token).hex();
}

} // namespace hearth::server
