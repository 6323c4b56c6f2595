#include "runtime/server/access/remembered_credentials.hpp"

#include "messages/random_number.hpp"

#include <algorithm>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <utility>

namespace hearth::server {

remembered_credentials::remembered_credentials() {
  std::generate(key_.begin(), key_.end(), random_number);
}

digest remembered_credentials::name_of_password(std::string_view user,
                                                std::string_view password) const {
  // The length in front keeps ("ab", "c") and ("a", "bc") apart.
  auto text = std::to_string(user.size()) + ":";
  return keyed_hash(text.append(user).append(password));
}

digest remembered_credentials::name_of_token(std::string_view token) const {
  return keyed_hash("token:" + std::string(token));
}

digest remembered_credentials::keyed_hash(const std::string& text) const {
  digest name;
  unsigned size = 0;
  const auto* const made = HMAC(EVP_sha256(), key_.data(), sizeof key_,
                                reinterpret_cast<const unsigned char*>(text.data()), text.size(),
                                name.bytes.data(), &size);
  // Without memory for it: a name that nothing else has.
  if (!made) std::generate(name.bytes.begin(), name.bytes.end(), random_number);
  return name;
}

identity_ptr remembered_credentials::find(const digest& name) const {
  const auto at = known_.find(name);
  return at == known_.end() ? nullptr : at->second;
}

void remembered_credentials::remember(const digest& name, identity_ptr who) {
  if (!known_.emplace(name, std::move(who)).second) return;
  order_.push_back(name);
  if (order_.size() <= max_remembered) return;
  known_.erase(order_.front());
  order_.pop_front();
}

void remembered_credentials::clear() {
  known_.clear();
  order_.clear();
}

} // namespace hearth::server
