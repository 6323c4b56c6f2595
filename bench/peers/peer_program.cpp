#include "bench/peers/peer_program.hpp"

#include <fcntl.h>
#include <stdexcept>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace hearth::bench {

peer_program start_peer(const std::vector<std::string>& line, int at_our_end) {
  std::vector<char*> arguments;
  for (const auto& word : line)
    arguments.push_back(const_cast<char*>(word.c_str())); // NOLINT: execvp takes it so
  arguments.push_back(nullptr);
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("cannot make a pipe");
  const pid_t child = ::fork();
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, at_our_end);
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::dup2(ends[1], STDOUT_FILENO);
    ::execvp(arguments[0], arguments.data());
    ::_exit(127);
  }
  ::close(ends[1]);
  if (child < 0) throw std::runtime_error("cannot start " + line.front());
  return {child, ends[0]};
}

void end_peer(const peer_program& running, int signal) {
  ::kill(running.pid, signal);
  ::waitpid(running.pid, nullptr, 0);
  ::close(running.output);
}

std::string read_until(int output, std::string_view end) {
  std::string text;
  char part[4096];
  for (;;) {
    const auto got = ::read(output, part, sizeof part);
    if (got <= 0) return text;
    text.append(part, static_cast<std::size_t>(got));
    if (!end.empty() && text.find(end) != std::string::npos) return text;
  }
}

peer_output run_peer(const std::vector<std::string>& line) {
  const auto run = start_peer(line);
  peer_output ended{read_until(run.output, ""), 0};
  ::close(run.output);
  ::waitpid(run.pid, &ended.status, 0);
  return ended;
}

} // namespace hearth::bench
