// Whether the system gives this process as many threads as it is about to start. A library that
// starts them one by one cannot undo its start when the last one fails.
#pragma once

#include "messages/error.hpp"

namespace hearth::os {

/// Starts `count` threads at once, with all signals blocked, and ends them. Their stacks are kept
/// by libc for the threads that follow. Errors: `too_many_files`, when the system refuses one (the
/// limit of processes, of a control group, or of memory). Any thread.
expected<void> check_thread_room(unsigned count);

} // namespace hearth::os
