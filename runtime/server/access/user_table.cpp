#include "runtime/server/access/user_table.hpp"

#include <openssl/crypto.h>
#include <utility>

namespace hearth::server {
namespace {

// Of no password; with the parameters of a new hash.
constexpr std::string_view default_decoy =
    "scrypt$15$8$1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

} // namespace

// A user's hash as the decoy: an unknown user takes as long as that one.
user_table::user_table(user_list users)
    : decoy_hash_(default_decoy) {
  for (auto& one : users) {
    if (!one.password_hash.empty()) decoy_hash_ = one.password_hash;
    auto who = std::make_shared<const identity>(one.who);
    by_name_.insert_or_assign(one.who.user, known_user{std::move(who), std::move(one.password_hash),
                                                       std::move(one.token_hash)});
  }
}

identity_ptr user_table::user_named(std::string_view name) const {
  const auto at = by_name_.find(name);
  return at == by_name_.end() ? nullptr : at->second.who;
}

identity_ptr user_table::user_of_password(std::string_view name, std::string_view password) const {
  const auto at = by_name_.find(name);
  const bool has_password = at != by_name_.end() && !at->second.password_hash.empty();
  const bool matches =
      matches_password(password, has_password ? at->second.password_hash : decoy_hash_);
  return has_password && matches ? at->second.who : nullptr;
}

identity_ptr user_table::user_of_token(std::string_view token) const {
  const auto hash = hash_token(token);
  const identity_ptr* found = nullptr;
  for (const auto& [name, user] : by_name_)
    if (user.token_hash.size() == hash.size() &&
        CRYPTO_memcmp(user.token_hash.data(), hash.data(), hash.size()) == 0)
      found = &user.who;
  return found ? *found : nullptr;
}

} // namespace hearth::server
