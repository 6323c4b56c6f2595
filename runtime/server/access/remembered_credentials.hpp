// The credentials that were right before, so that a client that sends them with each request costs
// one slow hash. Only keyed hashes are kept, by a random key that lives as long as the object. Not
// for concurrent use; the names may be asked for from any thread.
#pragma once

#include "messages/digest.hpp"
#include "runtime/server/access/identity.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>

namespace hearth::server {

class remembered_credentials {
public:
  /// Above it the oldest are forgotten.
  static constexpr std::size_t max_remembered = 4096;

  remembered_credentials();

  /// HMAC-SHA256 of a user's name and password, or of a token. All names differ.
  digest name_of_password(std::string_view user, std::string_view password) const;
  digest name_of_token(std::string_view token) const;
  /// Whose credentials they are; null if they are not known to be right.
  identity_ptr find(const digest& name) const;
  void remember(const digest& name, identity_ptr who);
  void clear();

private:
  digest keyed_hash(const std::string& text) const;

  std::array<std::uint64_t, 4> key_;
  std::map<digest, identity_ptr> known_;
  std::deque<digest> order_; // the keys of `known_`, oldest first
};

} // namespace hearth::server
