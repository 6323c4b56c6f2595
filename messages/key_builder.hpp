// Structural keys: the key of a compilation is what its named details are, and nothing else.
//
// Plain values; pure functions, any thread. docs/keys.md says how a key is computed.
#pragma once

#include "messages/digest.hpp"
#include "messages/key_field.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hearth {

/// A key with what it was made of.
struct structural_key {
  key_field details; ///< a map of the fields by name
  digest identity;   ///< SHA-256 of the encoded details
  /// Why nothing must be cached under it: "inputs[2]: a callable". The first such place.
  std::optional<std::string> bypass;

  /// "f" and 51 characters of base32.
  std::string text() const;
};

/// Collects the fields of a key; `build` takes them. The order in which they are added does not
/// matter.
class key_builder {
public:
  /// Adds a field. A name that was added before, or that is empty, fails `build`.
  key_builder& add(std::string name, key_field content);

  /// Errors: `invalid_argument`, a field that was added wrongly; `too_large`, details nested deeper
  /// than 60.
  expected<structural_key> build();

private:
  key_field::map fields_;
  std::optional<error> problem_;
};

/// The key of details that were collected elsewhere. Errors: `invalid_argument`, when they are no
/// map; `too_large`.
expected<structural_key> key_of_details(key_field details);

/// A line a field, "[hash] name: value", and for a list or map a line an item; in order of names.
/// Equal hashes mean equal parts: 16 characters of base32 of the SHA-256 of the part's encoding.
std::vector<std::string> debug_lines(const key_field& details);

/// The first 51 characters of base32 of SHA-256: how Inductor names content.
std::string short_base32(const digest& d);

} // namespace hearth
