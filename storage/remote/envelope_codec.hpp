// The msgpack form of an envelope, and what its checksum and its signature cover:
// docs/remote-format.md byte for byte. It reads and writes fields; envelope.hpp checks whether they
// are genuine. Pure functions over plain data, any thread.
#pragma once

#include "messages/cache_key.hpp"
#include "messages/digest.hpp"
#include "storage/signing/signing.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hearth::storage {

inline constexpr std::string_view envelope_magic = "hearth";
inline constexpr std::uint64_t envelope_version = 2;
/// The first bytes that a signed entry's digest covers, so that it cannot be mistaken for a digest
/// of another kind.
inline constexpr std::string_view digest_label = "hearth-entry-1";
/// Payloads below this size are not compressed, bytes.
inline constexpr std::size_t min_packed_bytes = 128;
inline constexpr int envelope_compression_level = 3;
/// Largest payload as stored: the limit of msgpack, bytes.
inline constexpr std::uint64_t max_stored_bytes = 0xffffffff;

enum class payload_coding : std::uint8_t { raw = 0, zstd = 1 };

/// The fields of an envelope in their order. The views point into its bytes.
struct envelope_fields {
  std::string_view key; ///< its msgpack bytes
  std::uint64_t coding = 0;
  std::uint64_t payload_bytes = 0; ///< unpacked size
  std::string_view metadata;
  std::uint64_t checksum = 0;
  std::optional<storage::signature> signature;
  std::string_view stored; ///< the payload, compressed or not
};

/// The bytes of an envelope.
std::string pack_envelope(const envelope_fields& fields);

/// The fields of these bytes; nothing when they are not an envelope of this version: wrong types, a
/// wrong count, bytes left over, a length beyond the end, an impossible size.
std::optional<envelope_fields> unpack_envelope(std::string_view bytes);

/// XXH3-64 of the entry: cache name, version, key, coding, payload size, metadata, and the stored
/// payload, given by its hash (`hash_bytes`). It differs when a byte is damaged, or when the entry
/// belongs to another key.
std::uint64_t entry_checksum(const cache_key& key, const envelope_fields& fields,
                             std::uint64_t stored_hash);

/// SHA-256 of the same fields, over which a signature is made: the checksum finds damage, but an
/// attacker can compute a matching one.
digest entry_digest(const cache_key& key, const envelope_fields& fields);

} // namespace hearth::storage
