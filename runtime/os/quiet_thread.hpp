// Threads that leave the host's signals to the host's own threads.
#pragma once

#include <functional>
#include <optional>
#include <thread>

namespace hearth::os {

/// Starts a thread of that name (at most 15 bytes) with all signals blocked. Empty when the system
/// cannot start one.
std::optional<std::thread> start_quiet_thread(const char* name, std::function<void()> work);

} // namespace hearth::os
