// A free port for a peer that cannot be told to choose one itself.
#pragma once

#include <cstdint>

namespace hearth::bench {

/// A port of 127.0.0.1 on which nobody listened a moment ago. Another program might take it before
/// the peer does; then the peer does not start. Throws `std::runtime_error`.
std::uint16_t free_port();

} // namespace hearth::bench
