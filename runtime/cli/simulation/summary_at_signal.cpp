#include "runtime/cli/simulation/summary_at_signal.hpp"

#include <unistd.h>

namespace hearth::cli {

status summary_at_signal::finish(status ending) {
  const auto held = lock();
  is_finished_ = true;
  return print(summary_(), ending);
}

void summary_at_signal::end() {
  const auto held = lock();
  if (is_finished_) return;
  (void)write_stdout(summary_());
  ::_exit(run_signalled + signals_.signal());
}

} // namespace hearth::cli
