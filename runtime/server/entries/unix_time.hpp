// The system's clock, as expiries and TIME have it. Any thread.
#pragma once

#include <cstdint>

namespace hearth::server {

/// The current Unix time in microseconds.
std::int64_t unix_time_us();
/// The same in ms.
inline std::int64_t unix_time_ms() { return unix_time_us() / 1000; }

} // namespace hearth::server
