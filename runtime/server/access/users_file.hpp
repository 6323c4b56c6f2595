// The users of the server: a TOML file with hashed passwords. Plain values and pure functions.
//
//   [users.ci]
//   role = "writer"                 # reader (default), writer or admin
//   password = "scrypt$15$8$1$SALT$HASH"   # by `hearth serve --hash-password`
//   token = "sha256$HEX"            # by `hearth serve --new-token`; beside a password or alone
//   namespace = "main"              # default: the trusted one
//   hold_misses = true              # default: the listener's setting
//   refused_writes = "ignore"       # or "error", the default
#pragma once

#include "messages/error.hpp"
#include "runtime/server/access/identity.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hearth::server {

/// A user as the file has it.
struct user_entry {
  identity who;
  std::string password_hash; ///< "scrypt$..."; empty: no password is right
  std::string token_hash;    ///< "sha256$..."; empty: no token is right
};

using user_list = std::vector<user_entry>;

/// Parses the text of a users file. Errors: `malformed` with file, line and what is wrong: an
/// unknown member, a role or hash that is none, two users of one name, a name or namespace that is
/// empty, longer than 58 bytes or has other bytes than letters, digits, `.`, `_` and `-`.
expected<user_list> parse_users(std::string_view text, const std::filesystem::path& file);

/// Reads the file. Errors also: `io`; `permission` when others than its owner may read or write it.
expected<user_list> read_users(const std::filesystem::path& file);

/// Hashes a password with a new salt. Errors: `invalid_argument` unless it has 1 to 1024 bytes;
/// `internal` when OpenSSL refuses.
expected<std::string> hash_password(std::string_view password);
/// Whether this is the password of that hash; takes tens of milliseconds, compares in constant
/// time.
bool matches_password(std::string_view password, std::string_view hash);

/// A new random token of 43 characters, and its hash.
struct new_token {
  std::string token, hash;
};
expected<new_token> make_token();
/// The form of a token's hash in the file.
std::string hash_token(std::string_view token);

} // namespace hearth::server
