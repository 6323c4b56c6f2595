// Exit statuses that both programs use.
#pragma once

namespace hearth::front {

/// Exit statuses of `hearth run` besides the command's own, as in `env` and `timeout`.
enum run_status : int {
  run_timed_out = 124,
  run_failed = 125, ///< Hearth itself failed
  run_not_executable = 126,
  run_not_found = 127,
  run_signalled = 128, ///< plus the signal's number
};

/// The status for I/O trouble.
constexpr int io_trouble = 3;

/// The status when stdout is a pipe whose reader has ended: that of a shell for a program that
/// SIGPIPE ended, so that `hearth list | head` is like `cat FILE | head`.
constexpr int output_has_no_reader = 128 + 13;

} // namespace hearth::front
