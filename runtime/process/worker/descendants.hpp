// Finds and kills the remaining processes of a job, for a supervisor that is a subreaper: the
// orphans of a killed process become its children. For the only thread of the supervisor.
#pragma once

#include <chrono>
#include <sys/types.h>
#include <vector>

namespace hearth::worker {

/// The children of this process's main thread; a child that is forked meanwhile may be missing.
std::vector<pid_t> list_children();
/// The same from the status files of all processes, for kernels that keep no list of children.
std::vector<pid_t> search_children();

/// The end of a job.
struct remains {
  int status = 0;    ///< the wait status of the program
  bool left = false; ///< a process is left: in an uninterruptible wait, or not ours to kill
};

/// Kills and reaps all descendants, generation by generation, for at most `patience`; the returned
/// status is that of `program`. `child_ended` is a signal descriptor that reports SIGCHLD.
remains kill_descendants(pid_t program, int child_ended, std::chrono::milliseconds patience);

} // namespace hearth::worker
