// The progress callback of long work on a shard. A plain type.
#pragma once

#include <cstdint>
#include <functional>

namespace hearth::storage::disk {

/// Called with the number of bytes done since the last call.
using step_callback = std::function<void(std::uint64_t bytes)>;

} // namespace hearth::storage::disk
