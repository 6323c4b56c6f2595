// Signatures over a digest: of entries in the remote tier, and of bundles. What was digested begins
// with a label of its kind, so the signature of one is never that of another. Pure functions over
// plain data, any thread. Secrets stand in no text that these return.
#pragma once

#include "messages/digest.hpp"
#include "messages/error.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hearth::storage {

/// What a signature is made over begins with this.
inline constexpr std::string_view signature_label = "hearth-signature-1";
/// Public-key signatures get numbers of their own.
enum class signature_algorithm : std::uint8_t { hmac_sha256 = 1 };

/// A secret that is signed with, and the short name by which signatures say which it was.
struct signing_key {
  std::string id;     ///< 1 to 32 of A-Z a-z 0-9 . _ -
  std::string secret; ///< at least 16 bytes
};

/// The keys of a fleet. The first signs; every one verifies, so that keys can be changed while
/// machines still hold the old one. Empty: nothing is signed.
using signing_keys = std::vector<signing_key>;

/// The keys of a file's text: a line each, `ID HEX`, the secret as hexadecimal digits; blank lines
/// and lines that begin with `#` are nothing. Errors: `malformed`, with the line's number, never
/// its secret.
expected<signing_keys> parse_signing_keys(std::string_view text);

/// A signature as it stands in a format. The views point into its bytes.
struct signature {
  std::uint64_t algorithm = 0;
  std::string_view key_id;
  std::string_view bytes;
};

/// HMAC-SHA256 over label, algorithm, key id and digest, as docs/remote-format.md has it: 32 bytes.
std::string sign_digest(const digest& of, const signing_key& key);

/// Whether one of `keys` signed that digest. Takes as long wherever a wrong signature differs.
bool is_signed_by(const signing_keys& keys, const signature& made, const digest& of);

} // namespace hearth::storage
