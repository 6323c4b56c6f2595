#include "runtime/process/worker/signals.hpp"

#include <csignal>
#include <cstdint>
#include <sys/syscall.h>
#include <unistd.h>

namespace hearth::worker {

void restore_signals() {
  // Directly, since libc keeps two signals to itself, which may come ignored all the same. An
  // action of zeros is the default one, whatever its parts are on this machine.
  const std::uint64_t default_action[8] = {};
  for (int number = 1; number < NSIG; ++number)
    ::syscall(SYS_rt_sigaction, number, default_action, nullptr, sizeof(std::uint64_t));
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

} // namespace hearth::worker
