#include "bench/frame/child_program.hpp"

#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <spawn.h>
#include <stdexcept>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

extern char** environ; // NOLINT: POSIX's name

namespace hearth::bench {
namespace {

constexpr char ready_byte = 'r';

// Starts this program with the given stdin and stdout and no signal blocked.
pid_t start(std::vector<std::string> arguments, int in, int out) {
  std::vector<char*> argv;
  for (auto& argument : arguments)
    argv.push_back(argument.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, in, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
  posix_spawnattr_t how;
  posix_spawnattr_init(&how);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&how, &none);
  posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGMASK);
  pid_t pid = -1;
  const int problem = ::posix_spawn(&pid, "/proc/self/exe", &files, &how, argv.data(), environ);
  posix_spawnattr_destroy(&how);
  posix_spawn_file_actions_destroy(&files);
  return problem == 0 ? pid : -1;
}

} // namespace

child_program::child_program(const std::string& role, const std::vector<std::string>& arguments) {
  std::vector<std::string> all{"hearth-bench", "--role", role};
  all.insert(all.end(), arguments.begin(), arguments.end());
  int up[2];
  int down[2];
  if (::pipe2(up, O_CLOEXEC) != 0 || ::pipe2(down, O_CLOEXEC) != 0)
    throw std::runtime_error("cannot make a pipe");
  pid_ = start(std::move(all), down[0], up[1]);
  ::close(down[0]);
  ::close(up[1]);
  from_child_ = up[0];
  to_child_ = down[1];
  if (pid_ < 0) throw std::runtime_error("cannot start a process");
}

child_program::child_program(child_program&& other) noexcept
    : pid_(std::exchange(other.pid_, -1))
    , from_child_(std::exchange(other.from_child_, -1))
    , to_child_(std::exchange(other.to_child_, -1)) {}

child_program::~child_program() {
  if (pid_ > 0) {
    kill();
    wait();
  }
  if (from_child_ >= 0) ::close(from_child_);
  if (to_child_ >= 0) ::close(to_child_);
}

void child_program::wait_until_ready() {
  char byte = 0;
  if (::read(from_child_, &byte, 1) != 1 || byte != ready_byte)
    throw std::runtime_error("a process of the benchmark ended early");
}

void child_program::go() const {
  if (::write(to_child_, &ready_byte, 1) != 1)
    throw std::runtime_error("a process of the benchmark ended early");
}

void child_program::kill() const { ::kill(pid_, SIGKILL); }

bool child_program::wait() {
  int status = 0;
  ::waitpid(std::exchange(pid_, -1), &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

void ready_and_wait() {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  char byte = ready_byte;
  if (::write(STDOUT_FILENO, &byte, 1) != 1 || ::read(STDIN_FILENO, &byte, 1) != 1)
    std::_Exit(1); // the parent process is gone
}

} // namespace hearth::bench
