// How a complete file takes the place of one that is there. Plain value.
#pragma once

#include <cstdint>

namespace hearth::os {

/// How a file takes the place of one that is there.
enum class replacement : std::uint8_t {
  in_one_step, ///< ext4 writes the file to disk first, which takes as long as a found compile
  /// As compilers do it: there is none for a moment, and none when this process is killed then.
  removing_first,
};

} // namespace hearth::os
