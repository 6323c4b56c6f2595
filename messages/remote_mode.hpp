// How a process uses the remote tier.
#pragma once

#include "messages/visibility.hpp"

#include <cstdint>

namespace HEARTH_PUBLIC hearth {

enum class remote_mode : std::uint8_t { read_write, read_only, write_only };

} // namespace hearth
