// The details of an entry's key, kept in the entry's metadata: they explain later how a key that
// missed differs from the stored ones. Any thread.
#pragma once

#include "messages/explain.hpp"
#include "messages/key_field.hpp"
#include "messages/value.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hearth::fingerprints {

/// The member of an entry's metadata that holds the details of its key.
inline constexpr std::string_view kept_details_member = "key_details";

/// Maximum bytes of encoded details that are kept or read.
inline constexpr std::uint64_t max_kept_details_bytes = std::uint64_t{64} << 20;

/// The details in their encoding (docs/keys.md), compressed. Errors: `too_large`.
expected<std::string> pack_details(const key_field& details);
/// The details of such bytes. Errors: `malformed`, `too_large`.
expected<key_field> unpack_details(const std::string& packed);

/// Adds the details, compressed, to an entry's metadata. Errors: `too_large`.
expected<void> keep_details(value::map& metadata, const key_field& details);

/// The details in an entry's metadata; nothing when none are kept. Errors: `malformed`,
/// `too_large`.
expected<std::optional<key_field>> kept_details(const value::map& metadata);

/// Finds the stored key that differs from a wanted key in the fewest places; among equals, the
/// newest. One thread.
class nearest_key {
public:
  /// `wanted` outlives this.
  explicit nearest_key(const key_field& wanted)
      : wanted_(wanted) {}

  /// Offers a stored key under a name that the caller chooses; a higher `sequence` is newer.
  void offer(std::string name, std::uint64_t sequence, const key_field& details);

  std::uint64_t offered() const noexcept { return offered_; }
  /// The nearest key's name; empty when none was offered.
  const std::string& name() const noexcept { return name_; }
  /// The differences from the wanted key to the nearest one.
  const std::vector<difference>& differences() const noexcept { return differences_; }

private:
  const key_field& wanted_;
  std::string name_;
  std::uint64_t sequence_ = 0;
  std::uint64_t offered_ = 0;
  std::vector<difference> differences_;
};

} // namespace hearth::fingerprints
