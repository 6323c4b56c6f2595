// Distinguishes a process from the children that it forks. Any thread.
#pragma once

#include <cstdint>

namespace hearth {

/// A number that differs between a process and its forked children.
std::uint64_t fork_generation() noexcept;

} // namespace hearth
