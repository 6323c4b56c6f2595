// A forked child of a test: it runs a function and exits with its result. For tests in which
// processes affect each other. Not for programs with threads running.
#pragma once

#include <csignal>
#include <cstdlib>
#include <functional>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace hearth::test {

class child_process {
public:
  /// Starts `run` in a child. Its result (0 to 255) is the child's status.
  explicit child_process(const std::function<int()>& run)
      : pid_(::fork()) {
    if (pid_ == 0) {
      int status = 255;
      try {
        status = run();
      } catch (...) {
        status = 254;
      }
      ::_exit(status);
    }
  }
  child_process(const child_process&) = delete;
  child_process& operator=(const child_process&) = delete;
  ~child_process() {
    if (pid_ > 0) {
      kill();
      wait();
    }
  }

  pid_t pid() const { return pid_; }
  void kill(int signal = SIGKILL) { ::kill(pid_, signal); }
  /// Returns the child's status, or minus the signal that ended it.
  int wait() {
    int status = 0;
    ::waitpid(std::exchange(pid_, -1), &status, 0);
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
  }

private:
  pid_t pid_;
};

} // namespace hearth::test
