#include "runtime/process/worker/descendants.hpp"

#include <cerrno>
#include <charconv>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <poll.h>
#include <string>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

namespace hearth::worker {
namespace {

using clock = std::chrono::steady_clock;

// The time between two lists of children: a list may lack a child that was forked while it was
// made.
constexpr int look_again_ms = 20;
constexpr int max_reaped_at_once = 1000; // then the deadline is checked again

// The parent in a line of /proc/PID/stat: "PID (name) state PARENT ..."; the name may contain any
// character.
pid_t parent_in(const std::string& stat) {
  const auto name_end = stat.rfind(')');
  if (name_end == std::string::npos || name_end + 4 >= stat.size()) return -1;
  pid_t parent = -1;
  std::from_chars(stat.data() + name_end + 4, stat.data() + stat.size(), parent);
  return parent;
}

// Reaps ended children, up to a number, and notes the status of `program`. Returns false when there
// are no children at all.
bool reap(pid_t program, int& program_status) {
  for (int reaped = 0; reaped < max_reaped_at_once; ++reaped) {
    int status = 0;
    const auto ended = ::waitpid(-1, &status, WNOHANG);
    if (ended == program) program_status = status;
    if (ended == 0) break;
    if (ended < 0 && errno != EINTR) return false;
  }
  return true;
}

void wait_for_end_of_a_child(int child_ended) {
  pollfd ready{child_ended, POLLIN, 0};
  if (::poll(&ready, 1, look_again_ms) == 1) {
    signalfd_siginfo taken;
    [[maybe_unused]] const auto n = ::read(child_ended, &taken, sizeof taken);
  }
}

} // namespace

std::vector<pid_t> search_children() {
  std::vector<pid_t> found;
  std::error_code failed;
  for (std::filesystem::directory_iterator at("/proc", failed), end; !failed && at != end;
       at.increment(failed)) {
    const auto name = at->path().filename().string();
    pid_t process = 0;
    const auto [parsed, status] = std::from_chars(name.data(), name.data() + name.size(), process);
    if (status != std::errc{} || *parsed != '\0') continue;
    std::string line;
    std::getline(std::ifstream(at->path() / "stat"), line, '\0');
    if (parent_in(line) == ::getpid()) found.push_back(process);
  }
  return found;
}

std::vector<pid_t> list_children() {
  std::ifstream list("/proc/thread-self/children");
  if (!list) return search_children();
  std::vector<pid_t> found;
  for (pid_t process = 0; list >> process;)
    found.push_back(process);
  return found;
}

remains kill_descendants(pid_t program, int child_ended, std::chrono::milliseconds patience) {
  const auto give_up = clock::now() + patience;
  int status = SIGKILL; // the signal that it got, until its status is known
  while (reap(program, status)) {
    if (clock::now() >= give_up) return {status, true};
    for (const auto child : list_children())
      ::kill(child, SIGKILL);
    wait_for_end_of_a_child(child_ended);
  }
  return {status, false};
}

} // namespace hearth::worker
