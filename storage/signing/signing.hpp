// Signatures over a digest: of entries in the remote tier, and of bundles. The digested bytes begin
// with a label of their kind, so a signature of one kind is never valid for another. Pure functions
// over plain data, any thread. No returned text contains a secret.
#pragma once

#include "messages/digest.hpp"
#include "messages/error.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hearth::storage {

/// The first bytes that a signature covers.
inline constexpr std::string_view signature_label = "hearth-signature-1";
/// Public-key signatures will get numbers of their own.
enum class signature_algorithm : std::uint8_t { hmac_sha256 = 1 };

/// A secret for signing, and the short name by which a signature identifies it.
struct signing_key {
  std::string id;     ///< 1 to 32 of A-Z a-z 0-9 . _ -
  std::string secret; ///< at least 16 bytes
};

/// The keys of a fleet. The first signs; all of them verify, so that keys can be changed while
/// machines still use the old one. Empty: signing is off.
using signing_keys = std::vector<signing_key>;

/// Parses the text of a key file: a line a key, `ID HEX`, the secret as hexadecimal digits; blank
/// lines and lines that begin with `#` are ignored. Errors: `malformed`, with the line's number,
/// never its secret.
expected<signing_keys> parse_signing_keys(std::string_view text);

/// A signature inside encoded bytes. The views point into these bytes.
struct signature {
  std::uint64_t algorithm = 0;
  std::string_view key_id;
  std::string_view bytes;
};

/// HMAC-SHA256 over label, algorithm, key id and digest, as docs/remote-format.md defines it: 32
/// bytes.
std::string sign_digest(const digest& of, const signing_key& key);

/// Whether one of `keys` signed that digest. Its time does not depend on where a wrong signature
/// differs.
bool is_signed_by(const signing_keys& keys, const signature& made, const digest& of);

} // namespace hearth::storage
