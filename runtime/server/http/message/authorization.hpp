// The `Authorization` header of a request. Pure functions, any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace hearth::server {

/// What a client shows: a user with a password, or a token.
struct shown_credentials {
  bool is_token = false;
  std::string user;   ///< empty with a token
  std::string secret; ///< the password or the token
};

/// Takes `Basic BASE64` or `Bearer TOKEN` apart. Empty: neither of them, or broken.
std::optional<shown_credentials> parse_authorization(std::string_view header);

} // namespace hearth::server
