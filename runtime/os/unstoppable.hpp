// Steps that must not stay half done when this process is killed.

//
// Why a child: outputs of one action that come from two runs (an object beside the list of files of
// another one) make builds wrong without a word, and there is no rename of several files at once. A
// journal would need somebody who reads it, in a folder that is not ours. What is left between the
// first rename and the last is a few microseconds of a build that is being interrupted, which is
// when builds are killed. The child runs no more than `work`: it was written to need nothing that
// a child which shares its parent's memory must not touch.
#pragma once

namespace hearth {

/// Runs `work(context)` in a child that shares this process's memory and descriptors, in a session
/// of its own: it goes on to its end though this process, or its process group, is killed
/// meanwhile. The calling thread waits. Where no child is to be had it runs here. `work` makes
/// system calls and writes to `context`, no more: no allocation, no lock, no exception. Any thread.
void run_unstoppably(void (*work)(void* context) noexcept, void* context) noexcept;

} // namespace hearth
