// `hearth-worker supervise`: runs one program for a host and leaves no process of it behind,
// neither when it ends, nor when the host asks for a stop, nor when the host is killed.
//
// The host starts it with the descriptors of job.hpp. It becomes a subreaper, so that orphans of
// the program become its children, and it kills its children until there are none. It stops at the
// end of its control socket and at the host's end: PR_SET_PDEATHSIG would be tied to the host's
// thread that started it, not to the host.
#pragma once

namespace hearth::worker {

/// Serves one job and returns the exit status of the supervisor: 0 when the host was answered.
int supervise();

} // namespace hearth::worker
