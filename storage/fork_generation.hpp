// Tells a process from the children it forks. Any thread.
#pragma once

#include <cstdint>

namespace hearth {

/// A number that is another one in the child of a fork.
std::uint64_t fork_generation() noexcept;

} // namespace hearth
