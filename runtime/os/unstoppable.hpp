// Steps that must not stay half done when this process is killed: the renames that put the outputs
// of one action in place.
//
// Why a child process does them: outputs that come from two runs (an object beside the dependency
// file of another run) make builds wrong without an error, and the system has no rename of several
// files at once. A journal needs a reader, and the folder is the user's. The time between the first
// rename and the last is a few microseconds, but builds are killed just when they are busy.
//
// Why it is safe: the child shares the parent's memory until it ends (vfork), so it may only do
// what a signal handler may do. `work` is a plain function that makes system calls.
#pragma once

namespace hearth::os {

/// Runs `work(context)` in a child that shares this process's memory and descriptors, in a session
/// of its own: it runs to its end even if this process, or its process group, is killed meanwhile.
/// The calling thread waits. If no child can be started, it runs in this process. `work` makes
/// system calls and writes to `context`, no more: no allocation, no lock, no exception. Any thread.
void run_unstoppably(void (*work)(void* context) noexcept, void* context) noexcept;

} // namespace hearth::os
