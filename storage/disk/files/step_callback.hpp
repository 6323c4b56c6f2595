// How long work on a shard tells how far it is. A plain type.
#pragma once

#include <cstdint>
#include <functional>

namespace hearth::storage::disk {

/// Told how many bytes more are done.
using step_callback = std::function<void(std::uint64_t bytes)>;

} // namespace hearth::storage::disk
