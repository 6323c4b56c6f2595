// Structural keys: the key of a compilation depends on its named details only.
//
// Plain values; pure functions, any thread. docs/keys.md says how a key is computed.
#pragma once

#include "messages/digest.hpp"
#include "messages/key_field.hpp"
#include "messages/visibility.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace HEARTH_PUBLIC hearth {

/// A key with its details.
struct structural_key {
  key_field details; ///< a map of the fields by name
  digest identity;   ///< SHA-256 of the encoded details
  /// Why nothing may be cached under this key: the first unsupported place, "inputs[2]: a
  /// callable".
  std::optional<std::string> bypass;

  /// "f" and 51 characters of base32.
  std::string text() const;
};

/// Collects the fields of a key, in any order; `build` takes them.
class key_builder {
public:
  /// Adds a field. A repeated or empty name makes `build` fail.
  key_builder& add(std::string name, key_field content);

  /// Errors: `invalid_argument` for a field with a wrong name; `too_large` for details nested
  /// deeper than 60.
  expected<structural_key> build();

private:
  key_field::map fields_;
  std::optional<error> problem_;
};

/// The key of given details. Errors: `invalid_argument` if they are not a map; `too_large`.
expected<structural_key> key_of_details(key_field details);

/// One line for each field, "[hash] name: value", and for each item of a list or map; in the order
/// of names. Equal hashes mean equal parts: 16 characters of base32 of the SHA-256 of the part's
/// encoding.
std::vector<std::string> debug_lines(const key_field& details);

/// The first 51 characters of base32 of SHA-256: how Inductor names content.
std::string short_base32(const digest& d);

} // namespace hearth
