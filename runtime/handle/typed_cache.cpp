#include "runtime/handle/typed_cache.hpp"

namespace hearth {

error value_mismatch(const cache& in, const key& k, std::string_view type, const error& why) {
  return {errc::malformed, "cache '" + in.id().name() + "', key " + k.describe() +
                               ": what is stored is no '" + std::string(type) + "' (" + why.text() +
                               "); put it anew, or give the cache another version"};
}

} // namespace hearth
