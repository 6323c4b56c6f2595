// Keys of caches with and without signing, for the tests of the remote tier's format.
#pragma once

#include "messages/cache_key.hpp"
#include "storage/remote/envelope.hpp"

#include <memory>
#include <string>
#include <string_view>

namespace hearth::test {

inline cache_key key_in(std::string_view cache, std::string_view text, bool sign = false,
                        std::string_view version = "0") {
  const auto id = *cache_id::make(cache, version);
  named_cache named{id, 1, id.seed()};
  named.sign = sign;
  return {std::make_shared<const named_cache>(named), key(text).encoded()};
}

inline const storage::signing_keys& two_keys() {
  static const storage::signing_keys keys{{"new", std::string(32, 'n')},
                                          {"old", std::string(16, 'o')}};
  return keys;
}

constexpr std::uint64_t one_mib = 1u << 20;

} // namespace hearth::test
