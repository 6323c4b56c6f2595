// Random numbers of the system. Any thread.
#pragma once

#include <cstdint>

namespace hearth {

/// 64 random bits, by one system call: `std::random_device` asks the processor what it can do
/// first, which takes longer under a hypervisor than all else that a short program does.
std::uint64_t random_number() noexcept;

} // namespace hearth
