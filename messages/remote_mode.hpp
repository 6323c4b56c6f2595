// How a process uses the remote tier.
#pragma once

#include <cstdint>

namespace hearth {

enum class remote_mode : std::uint8_t { read_write, read_only, write_only };

} // namespace hearth
