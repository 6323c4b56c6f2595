// Steps that must not stay half done when this process is killed.
#pragma once

namespace hearth {

/// Runs `work(context)` in a child that shares this process's memory and descriptors, in a session
/// of its own: it goes on to its end though this process, or its process group, is killed
/// meanwhile. The calling thread waits. Where no child is to be had it runs here. `work` makes
/// system calls and writes to `context`, no more: no allocation, no lock, no exception. Any thread.
void run_unstoppably(void (*work)(void* context) noexcept, void* context) noexcept;

} // namespace hearth
