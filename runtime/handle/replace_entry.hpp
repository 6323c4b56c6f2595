// Writes an entry that may exist already. Any thread.
#pragma once

#include "runtime/handle/cache.hpp"

#include <cstdint>

namespace hearth {

enum class replace_outcome : std::uint8_t {
  inserted, ///< there was no entry
  same,     ///< the entry had this value
  replaced,
};

/// Sets the entry to `value`. An equal entry is left alone: a put makes other processes drop their
/// memory tier. Errors: those of `insert` and `put`.
expected<replace_outcome> replace_entry(const cache& in, const key& k, const artifact& value);

} // namespace hearth
