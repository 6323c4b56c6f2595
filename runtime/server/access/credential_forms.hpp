// The forms of names and hashed credentials in the users file. Pure functions, any thread.
//
//   scrypt$LOG2_N$R$P$SALT$HASH   base64 (RFC 4648, section 4) without padding; scrypt is RFC 7914
//   sha256$HEX                    of a token: 64 lower-case digits
#pragma once

#include <cstddef>
#include <string_view>

namespace hearth::server {

/// Longest password and token; longer ones are wrong.
inline constexpr std::size_t max_secret_bytes = 1024;
/// Longest name of a user or a namespace: behind `serve.` it is the name of a cache.
inline constexpr std::size_t max_user_name_bytes = 58;

/// Whether the text can name a user or a namespace, and what else is said.
bool is_user_name(std::string_view text);
inline constexpr std::string_view wanted_user_name =
    "has to be 1 to 58 bytes of letters, digits, '.', '_' and '-'";

/// Whether `matches_password` can use the text: its parameters need at most 128 MiB, and at most 16
/// times the work of a new hash.
bool is_password_hash(std::string_view text);
/// Whether the text has the form of a token's hash.
bool is_token_hash(std::string_view text);

} // namespace hearth::server
