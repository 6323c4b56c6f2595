// Entries as plain text and plain msgpack: the form in which an environment variable or a file
// holds a cache in memory. Pure functions, any thread.
//
// Text:  KEY,VALUE;KEY,VALUE  each the padded base64 of msgpack; white space around keys, values
//        and pairs, empty pairs and identical repeats are ignored.
// Bytes: one msgpack map of keys to values.
#pragma once

#include "messages/error.hpp"
#include "messages/key.hpp"
#include "messages/value.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace hearth::storage {

struct plain_entry {
  key name;
  value content;
  std::size_t pair =
      0; ///< the number of its pair in the text or map, from 1; 0: it is from neither
};

using plain_entries = std::vector<plain_entry>;

/// All entries, or why there are none. Errors, each naming the pair by number and the reason:
/// `malformed` (no comma, not base64, a value that is not msgpack), `invalid_key`, `invalid_value`
/// (one key with two values).
expected<plain_entries> parse_pairs(std::string_view text);
std::string print_pairs(const plain_entries& entries);

/// The same for a map; a duplicate key is `malformed` there, even with equal values.
expected<plain_entries> decode_map(std::string_view bytes);
/// Encodes entries in the order of their keys' bytes: equal entries have equal bytes.
std::string encode_map(plain_entries entries);

} // namespace hearth::storage
