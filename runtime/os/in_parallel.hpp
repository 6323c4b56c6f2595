// Does independent pieces of work on several threads at once.
#pragma once

#include <cstddef>
#include <functional>

namespace hearth::os {

/// Calls `work` once with each of 0 to `count` - 1, on at most `threads` threads, the caller's
/// among them, and returns when all calls have ended. `work` must not throw; it runs on any of the
/// threads. Any thread may call this.
void in_parallel(std::size_t count, std::size_t threads,
                 const std::function<void(std::size_t)>& work);

} // namespace hearth::os
