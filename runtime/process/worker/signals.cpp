#include "runtime/process/worker/signals.hpp"

#include <csignal>
#include <cstdint>
#include <sys/syscall.h>
#include <unistd.h>

namespace hearth::worker {

void restore_signals() {
  // By system call, since libc does not let programs change two of its own signals, which may be
  // inherited as ignored. An action of zeros is the default one on every machine.
  const std::uint64_t default_action[8] = {};
  for (int number = 1; number < NSIG; ++number)
    ::syscall(SYS_rt_sigaction, number, default_action, nullptr, sizeof(std::uint64_t));
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

} // namespace hearth::worker
