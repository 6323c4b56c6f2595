// Records: seals and checks headers, and compares a record's key.
//
// Plain values and pure functions, any thread. The layout is in format.hpp.
#pragma once

#include "messages/cache_id.hpp"
#include "messages/expiry.hpp"
#include "messages/unix_time.hpp"
#include "storage/disk/format.hpp"
#include "storage/disk/store.hpp"
#include "storage/hash/copy_hash.hpp"

#include <cstring>
#include <string_view>

namespace hearth::storage::disk {

/// The seed of the header checksum: a record counts only in its store and at its place, so that the
/// image of a record inside a value never counts as a record.
constexpr std::uint64_t header_seed(std::uint64_t store_id, location where) noexcept {
  return mix64(store_id ^ where.packed() * 0x9e3779b97f4a7c15ULL);
}

/// Fills in `header_sum`.
inline void seal(record_header& header, std::uint64_t store_id, location where) noexcept {
  header.header_sum =
      hash_seeded(&header, offsetof(record_header, header_sum), header_seed(store_id, where));
}

/// Whether the header was written for this place by this store.
inline bool is_sealed(const record_header& header, std::uint64_t store_id,
                      location where) noexcept {
  return header.magic == record_magic && header.format == format_version &&
         header.header_sum == hash_seeded(&header, offsetof(record_header, header_sum),
                                          header_seed(store_id, where));
}

/// Largest record of any kind; longer lengths are damage.
inline constexpr std::uint64_t max_stored_bytes = max_payload_bytes + (std::uint64_t{1} << 20);

/// Bytes from the header's start to the payload's end. The lengths must have been checked.
constexpr std::uint64_t record_end(const record_header& header) noexcept {
  return sizeof(record_header) + header.name_bytes + header.version_bytes + header.key_bytes +
         header.metadata_bytes + header.stored_bytes;
}
/// The same, up to the place where the next record may start.
constexpr std::uint64_t record_size(const record_header& header) noexcept {
  return round_up(record_end(header), unit_bytes);
}
/// Whether a writer may have written these lengths.
constexpr bool has_sane_lengths(const record_header& header) noexcept {
  return header.stored_bytes <= max_stored_bytes && header.metadata_bytes <= max_metadata_bytes &&
         header.payload_bytes <= max_payload_bytes;
}

/// Whether `identity` (name, version, key without gaps) is this key's.
inline bool is_identity_of(const entry_key& key, const record_header& header,
                           const char* identity) noexcept {
  const auto& name = key.cache->name();
  const auto& version = key.cache->version();
  return header.key_bytes == key.bytes.size() && header.name_bytes == name.size() &&
         header.version_bytes == version.size() && header.hash == key.hash &&
         std::memcmp(identity, name.data(), name.size()) == 0 &&
         std::memcmp(identity + name.size(), version.data(), version.size()) == 0 &&
         std::memcmp(identity + name.size() + version.size(), key.bytes.data(), key.bytes.size()) ==
             0;
}

} // namespace hearth::storage::disk
