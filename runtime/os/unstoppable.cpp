#include "runtime/os/unstoppable.hpp"

#include <cerrno>
#include <sys/wait.h>
#include <unistd.h>

namespace hearth::os {

void run_unstoppably(void (*work)(void* context) noexcept, void* context) noexcept {
  const pid_t child = ::vfork();
  if (child == 0) {
    ::setsid();
    work(context);
    ::_exit(0);
  }
  if (child < 0) return work(context);
  // A host that ignores SIGCHLD, or waits for any child, may have reaped it: that is no error.
  while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
}

} // namespace hearth::os
