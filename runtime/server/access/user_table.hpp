// The users as credentials are checked against them. Immutable once made, so any thread may use it.
#pragma once

#include "runtime/server/access/identity.hpp"
#include "runtime/server/access/users_file.hpp"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace hearth::server {

class user_table {
public:
  explicit user_table(user_list users);

  /// The user of this name, whose credentials were checked elsewhere; null if there is none.
  identity_ptr user_named(std::string_view name) const;
  /// The user, if the password is right; null otherwise. Slow in either case: it hashes.
  identity_ptr user_of_password(std::string_view name, std::string_view password) const;
  /// The user of the token; null if there is none. Fast. Looks at all users, so that the time does
  /// not tell which one was near.
  identity_ptr user_of_token(std::string_view token) const;

private:
  struct known_user {
    identity_ptr who;
    std::string password_hash, token_hash;
  };
  std::map<std::string, known_user, std::less<>> by_name_;
  std::string decoy_hash_; // what the password of an unknown user is compared with
};

using user_table_ptr = std::shared_ptr<const user_table>;

} // namespace hearth::server
