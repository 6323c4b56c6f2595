// Runs programs for actors, each under a supervisor (`hearth-worker supervise`) that leaves nothing
// behind: not at the program's end, not at its deadline, not when this process is killed.
//
// Owned by the runtime; any number of threads may call it at once. It needs nothing of the host: no
// signal handler, no SIGCHLD, no descriptor that a child could inherit, and it waits for no process
// but its own supervisors.
#pragma once

#include "actors/ports/programs.hpp"

#include <string>

namespace hearth::process {

/// Bytes of a program's report (descriptor 3) that are kept: the first ones.
inline constexpr std::size_t max_report_bytes = 1 << 20;

class subprocess_runner : public actors::process_runner {
public:
  /// `worker` is the path of hearth-worker, see `find_worker`.
  explicit subprocess_runner(std::string worker);

  /// A program is looked for in the PATH of the request's environment, or else of this process; a
  /// path is relative to the request's directory. Its streams: stdin is a file in memory, stdout
  /// and stderr are one pipe, descriptor 3 another. It has a process group and a session without a
  /// terminal, default signals, no core dumps, and ends with all that it started. Errors:
  /// `program_not_found`, `program_refused`, `process_failed` (no such directory, no supervisor),
  /// `invalid_argument` (no arguments, a NUL byte), `too_large` (arguments), `too_many_files`.
  expected<process_result> run(const process_request& request, std::stop_token stop) override;

private:
  std::string worker_;
};

} // namespace hearth::process
