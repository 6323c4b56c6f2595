// Starts servers and tools of rows, and reads what they print. For a row's thread.
#pragma once

#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

namespace hearth::bench {

struct peer_program {
  pid_t pid;
  int output; ///< the read end of its stdout; the caller closes it
};

/// Starts a program that ends with this thread at the latest. Throws `std::runtime_error`.
peer_program start_peer(const std::vector<std::string>& line);

/// The program's output until it contains `end`, or until the program ends. An empty `end`: all.
std::string read_until(int output, std::string_view end);

/// Starts a program, and returns its output and its wait status.
struct peer_output {
  std::string text;
  int status;
};
peer_output run_peer(const std::vector<std::string>& line);

} // namespace hearth::bench
