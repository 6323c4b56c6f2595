// The form of an entry in the remote tier: one msgpack value with its key, metadata, payload (zstd
// when that is smaller), a checksum of all, and a signature when signing is on. Both cover the
// cache's name and version, the key, the metadata and the payload, so an entry stored under another
// key, or with a changed guard, is rejected. Pure functions over plain data, any thread.
// docs/remote-format.md describes the format.
#pragma once

#include "messages/artifact.hpp"
#include "messages/cache_key.hpp"
#include "storage/signing/signing.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace hearth::storage {

/// Why an envelope was rejected.
enum class envelope_fault : std::uint8_t {
  none,
  malformed, ///< not an envelope of a known version
  too_large, ///< it, or its unpacked payload, is above the limit
  damaged,   ///< the entry of another key or cache, or the checksum does not fit
  unsigned_, ///< signing is on, and it has no signature
  forged,    ///< its signature is wrong, or made with an unknown key
};
/// "malformed", "too_large", "damaged", "unsigned", "forged".
std::string_view to_string(envelope_fault fault) noexcept;

/// An artifact, or why there is none.
struct opened_envelope {
  envelope_fault fault = envelope_fault::none;
  artifact value; ///< set when there is no fault
};

/// The bytes that the remote tier stores for an entry, signed with the first of `keys` when the
/// cache signs. Empty when it cannot be sealed: the cache signs and there are no keys, or the
/// payload takes 4 GiB or more. In a foreign cache the payload as it is.
std::string seal_envelope(const cache_key& key, const artifact& value, const signing_keys& keys);

/// The artifact in `bytes`, which were stored for `key`. When the cache signs, an entry must be
/// signed by one of `keys`; otherwise signatures are ignored. The input is untrusted: `max_bytes`
/// bounds the size of the envelope and that of the payload.
opened_envelope open_envelope(const cache_key& key, std::string_view bytes,
                              const signing_keys& keys, std::uint64_t max_bytes);

} // namespace hearth::storage
