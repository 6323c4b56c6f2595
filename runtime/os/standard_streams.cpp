#include "runtime/os/standard_streams.hpp"

#include <cerrno>
#include <fcntl.h>
#include <unistd.h>

namespace hearth::os {

void open_missing_standard_streams() noexcept {
  for (int number = STDIN_FILENO; number <= STDERR_FILENO; ++number) {
    if (::fcntl(number, F_GETFD) >= 0 || errno != EBADF) continue;
    // The lowest free number is this one: those below it are open.
    if (::open("/dev/null", O_RDWR) != number) ::_exit(3); // the status of I/O trouble
  }
}

} // namespace hearth::os
