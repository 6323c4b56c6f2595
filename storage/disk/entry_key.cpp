#include "messages/hash.hpp"
#include "storage/disk/store.hpp"

namespace hearth::storage {

entry_key::entry_key(const cache_id& c, std::string_view key_bytes) noexcept
    : entry_key(c, key_bytes, fast_hash(key_bytes, c.seed())) {}

error corrupt_entry(const cache_id& cache) {
  return {errc::corrupt, "the stored entry of cache '" + cache.name() +
                             "' failed its checksum and was dropped; insert it again"};
}

} // namespace hearth::storage
