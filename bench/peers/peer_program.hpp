// Starts servers and tools of rows, and reads what they print. For a row's thread.
#pragma once

#include <csignal>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

namespace hearth::bench {

struct peer_program {
  pid_t pid;
  int output; ///< the read end of its stdout; the caller closes it
};

/// Starts a program that gets `at_our_end` when this thread ends. Throws `std::runtime_error`.
peer_program start_peer(const std::vector<std::string>& line, int at_our_end = SIGKILL);

/// Sends the signal, waits for the program's end and closes its output.
void end_peer(const peer_program& running, int signal = SIGKILL);

/// The program's output until it contains `end`, or until the program ends. An empty `end`: all.
std::string read_until(int output, std::string_view end);

/// Starts a program, and returns its output and its wait status.
struct peer_output {
  std::string text;
  int status;
};
peer_output run_peer(const std::vector<std::string>& line);

} // namespace hearth::bench
