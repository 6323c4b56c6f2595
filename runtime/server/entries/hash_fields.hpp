// The form in which a client's hash is stored: an entry like any other, whose payload is the fields
// and whose metadata says that it is a hash. Pure functions over plain data, any thread.
//
// The payload is the fields in the order in which they were first set: two lengths (32 bits,
// little-endian), the field's name, its bytes.
#pragma once

#include "messages/artifact.hpp"
#include "runtime/server/entries/stored_value.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace hearth::server {

/// What a client sees an entry as.
enum class entry_type : std::uint8_t { string, hash };
/// Redis's name of it, as TYPE has it.
std::string_view to_string(entry_type type) noexcept;

/// The type that this metadata, a msgpack map or empty, names.
entry_type type_in(std::string_view metadata);
inline entry_type type_of(const artifact& stored) { return type_in(stored.metadata_bytes()); }

/// A field; the texts are those of whoever made it.
struct hash_field {
  std::string_view name;
  std::string_view bytes;
};

/// The fields of a hash, by their place and by their names. Keeps the texts of its sources, which
/// outlive it.
class hash_fields {
public:
  /// The fields of a stored hash. Empty: the payload is damaged.
  static std::optional<hash_fields> read(std::string_view payload);

  const std::vector<hash_field>& all() const noexcept { return fields_; }
  /// Null: there is no such field.
  const hash_field* find(std::string_view name) const;
  /// Adds or replaces. Returns whether the field is new.
  bool set(const hash_field& field);
  /// Adds the fields whose names are not there.
  void join(const hash_fields& others);
  /// Removes these fields, and returns how many of them were there.
  std::size_t remove(const std::vector<std::string_view>& names);
  /// Whether `set`, `join` or `remove` has made a difference.
  bool is_changed() const noexcept { return is_changed_; }
  /// The size of the payload that `store` makes.
  std::uint64_t payload_bytes() const noexcept { return bytes_; }
  /// The entry to store. Its other members, as the time that it took, are none.
  artifact store(expiry_ms expires) const;

private:
  void index();

  std::vector<hash_field> fields_;
  std::unordered_map<std::string_view, std::size_t> places_;
  std::uint64_t bytes_ = 0;
  bool is_changed_ = false;
};

} // namespace hearth::server
