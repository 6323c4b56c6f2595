// `hearth-worker trial`: runs one compiled kernel, compares it with its reference and times it. The
// process is given up to the kernel: whatever that does to it, the host reads an answer or its
// lack.
#pragma once

namespace hearth::worker {

/// Reads a request from standard input, tries the kernel, writes the report to descriptor 3 and
/// ends the process without running what the kernel registered for its exit: 0 when there is an
/// answer.
[[noreturn]] void run_trial();

} // namespace hearth::worker
