// Writes an entry that may be there already. Any thread.
#pragma once

#include "runtime/handle/cache.hpp"

#include <cstdint>

namespace hearth {

enum class replace_outcome : std::uint8_t {
  inserted, ///< there was none
  same,     ///< it said the same
  replaced,
};

/// Has the entry say `value`. One that does is left as it is: a put makes other processes drop what
/// they hold in memory. Errors: those of `insert` and `put`.
expected<replace_outcome> replace_entry(const cache& in, const key& k, const artifact& value);

} // namespace hearth
