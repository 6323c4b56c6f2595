// `hearth-worker trial`: runs one compiled kernel, compares it with its reference and times it. The
// process belongs to the kernel: whatever the kernel does to it, the host gets an answer or notices
// that there is none.
#pragma once

namespace hearth::worker {

/// Reads a request from standard input, tries the kernel, writes the report to descriptor 3 and
/// ends the process without running the kernel's exit handlers: status 0 when there is an answer.
[[noreturn]] void run_trial();

} // namespace hearth::worker
