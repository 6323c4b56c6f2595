// When an artifact ends: the member `expires_unix_ms` of its metadata, real time in ms since 1970.
// So an expiry goes wherever the artifact goes: to memory, disk, the remote tier and bundles.
//
// Pure functions but for `has_expired`, which reads the clock. Any thread.
#pragma once

#include "messages/artifact.hpp"

#include <chrono>
#include <cstdint>
#include <string_view>

namespace hearth {

/// The member of the metadata.
inline constexpr std::string_view expiry_member = "expires_unix_ms";

/// The longest time to live: a hundred years. A longer one counts as this.
inline constexpr std::chrono::milliseconds max_ttl = std::chrono::hours(24 * 365 * 100);

/// The expiry that this metadata, a msgpack map or empty, names; 0: none.
std::int64_t expiry_in(std::string_view metadata);
/// The expiry of an artifact; 0: it never ends.
inline std::int64_t expiry_of(const artifact& made) { return expiry_in(made.metadata_bytes()); }

/// Whether an entry with this expiry has ended at `now_ms`.
constexpr bool is_expired(std::int64_t expires_unix_ms, std::int64_t now_ms) noexcept {
  return expires_unix_ms != 0 && expires_unix_ms <= now_ms;
}
/// Whether the artifact has an expiry, and it has passed.
bool has_expired(const artifact& made);

/// The artifact with an expiry `ttl` from now, in place of an earlier one; unchanged if `ttl` is
/// not above zero, or if its metadata is no map.
artifact with_ttl(artifact made, std::chrono::milliseconds ttl);

} // namespace hearth
