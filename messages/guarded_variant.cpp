#include "messages/guarded_variant.hpp"

#include "messages/digest.hpp"
#include "messages/key.hpp"
#include "messages/set_kind.hpp"

#include <cstdint>

namespace hearth {

cache_key variants_key(const cache_key& base) { return derived_key(base, key(variant_sets.part)); }

std::string variant_id(std::string_view guard, const artifact& value) {
  const auto size = static_cast<std::uint64_t>(guard.size());
  const auto sum = sha256_stream{}
                       .update({reinterpret_cast<const char*>(&size), sizeof size})
                       .update(guard)
                       .update(value.payload())
                       .finish();
  return std::string(sum.view());
}

cache_key variant_key(const cache_key& base, std::string_view id) {
  return derived_key(base, key::bytes(id));
}

} // namespace hearth
