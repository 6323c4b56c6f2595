// Finds and kills what is left of a job, for a supervisor that is a subreaper: whatever a killed
// process leaves behind becomes its child. For the one thread of the supervisor.
#pragma once

#include <chrono>
#include <sys/types.h>
#include <vector>

namespace hearth::worker {

/// The children of this process, of its main thread; what is forked meanwhile may be missing.
std::vector<pid_t> list_children();
/// The same from the status files of all processes, for kernels that keep no list of children.
std::vector<pid_t> search_children();

/// What became of a job.
struct remains {
  int status = 0; ///< the wait status of the program
  bool left =
      false; ///< some of it is still there: in an uninterruptible wait, or beyond our rights
};

/// Kills and reaps all descendants, a generation after the other, for at most `patience`; `program`
/// is the one whose status counts. `child_ended` is a signal descriptor that has the ends of
/// children.
remains kill_descendants(pid_t program, int child_ended, std::chrono::milliseconds patience);

} // namespace hearth::worker
