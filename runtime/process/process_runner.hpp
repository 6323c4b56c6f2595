// Runs programs for actors, each under a supervisor (`hearth-worker supervise`) that leaves no
// process behind: neither at the program's end, nor at its deadline, nor when this process is
// killed.
//
// Owned by the runtime; any number of threads may call it at once. It requires nothing of the host:
// no signal handler, no SIGCHLD, no descriptor that a child could inherit. It waits only for its
// own supervisors.
#pragma once

#include "actors/ports/programs.hpp"
#include "messages/error.hpp"

#include <string>

namespace hearth::process {

/// The number of first bytes of a program's report (descriptor 3) that are kept.
inline constexpr std::size_t max_report_bytes = 1 << 20;

class subprocess_runner : public actors::process_runner {
public:
  /// `worker` is the path of hearth-worker or why there is none, see `find_worker`.
  explicit subprocess_runner(expected<std::string> worker);

  /// Searches the program in PATH of the request's environment, or else of this process; a path is
  /// relative to the request's directory. The program's stdin is a file in memory; stdout and
  /// stderr are one pipe, or two with `streams_apart`; descriptor 3 is another. It has its own
  /// process group, a session without a terminal, default signals and no core dumps. At its end its
  /// descendants are killed. Errors: `program_not_found`, `program_refused`, `process_failed` (no
  /// such directory, no hearth-worker), `invalid_argument` (no arguments, a NUL byte), `too_large`
  /// (arguments), `too_many_files`, `unsupported` (no overlay can be made).
  expected<process_result> run(const process_request& request, std::stop_token stop) override;

private:
  expected<std::string> worker_;
};

/// Whether programs can be watched here. Runs one, once, if this process itself has a filter of
/// system calls, as in most containers, or may hardly read the memory of others.
bool can_watch();
/// Why programs cannot be watched on this system; empty: they can. Runs one.
std::string why_not_watched();

} // namespace hearth::process
