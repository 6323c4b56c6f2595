#include "runtime/worker/supervise.hpp"

#include "runtime/process/descriptor.hpp"
#include "runtime/worker/descendants.hpp"
#include "runtime/worker/job.hpp"
#include "runtime/worker/signals.hpp"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <vector>

namespace hearth::worker {
namespace {

constexpr std::chrono::seconds patience{2};
constexpr int exit_bad_job = 2;

void tell(supervisor_message::kind what, int number, bool stopped = false, bool left = false) {
  const supervisor_message message{what, number, stopped, left};
  // A host that is gone cannot be told.
  ::send(control_descriptor, &message, sizeof message, MSG_NOSIGNAL);
}

// What ends a supervisor by itself becomes readable instead, and the end of a child with it.
descriptor catch_signals() {
  sigset_t caught;
  sigemptyset(&caught);
  for (const int number : {SIGCHLD, SIGTERM, SIGINT, SIGHUP, SIGQUIT})
    sigaddset(&caught, number);
  ::sigprocmask(SIG_BLOCK, &caught, nullptr);
  return descriptor{::signalfd(-1, &caught, SFD_CLOEXEC | SFD_NONBLOCK)};
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (auto& text : texts)
    result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

// In the child: becomes the program, or tells why not.
[[noreturn]] void become(const job& asked, char** argv, char** environment, pid_t supervisor) {
  ::setpgid(0, 0);
  // The second line: should the supervisor itself be killed, the program goes with it.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != supervisor) ::_exit(127);
  ::close_range(report_descriptor + 1, ~0U, CLOSE_RANGE_CLOEXEC);
  restore_signals();
  if (!asked.directory.empty() && ::chdir(asked.directory.c_str()) != 0) {
    tell(supervisor_message::refused_directory, errno);
  } else {
    ::execve(asked.program.c_str(), argv, environment);
    tell(supervisor_message::refused_program, errno);
  }
  ::_exit(127);
}

pid_t start(job& asked) {
  auto argv = pointers(asked.argv);
  auto environment = pointers(asked.environment);
  const auto supervisor = ::getpid();
  const auto child = ::fork();
  if (child == 0) become(asked, argv.data(), environment.data(), supervisor);
  // Here too, since the group may have to be killed before the child got to it.
  if (child > 0) ::setpgid(child, child);
  return child;
}

// Reaps adopted processes that have ended. True when `child` has ended; it is left unreaped, so
// that the number of its process group stays taken.
bool has_ended(pid_t child) {
  for (;;) {
    siginfo_t ended{};
    if (::waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT) != 0) return errno == ECHILD;
    if (ended.si_pid == child) return true;
    if (ended.si_pid == 0) return false;
    ::waitpid(ended.si_pid, nullptr, 0);
  }
}

// Takes one signal. True when it asks for a stop.
bool take_signal(int signals) {
  signalfd_siginfo taken;
  return ::read(signals, &taken, sizeof taken) == sizeof taken && taken.ssi_signo != SIGCHLD;
}

// Waits for the child's end. True when it has to be stopped before.
bool wait_for_stop(pid_t child, int signals, int host) {
  pollfd ready[] = {{signals, POLLIN, 0}, {control_descriptor, POLLIN, 0}, {host, POLLIN, 0}};
  while (!has_ended(child)) {
    if (::poll(ready, 3, -1) < 0 && errno != EINTR) return true;
    if (ready[1].revents != 0 || ready[2].revents != 0) return true;
    if (ready[0].revents != 0 && take_signal(signals)) return true;
  }
  return false;
}

int run(job& asked) {
  // None where the kernel is too old: then the end of the control socket has to do.
  const auto host = make_process_handle(static_cast<pid_t>(asked.host));
  const auto signals = catch_signals();
  if (!signals || ::getppid() != asked.host) return exit_bad_job;
  const auto child = start(asked);
  if (child < 0) {
    tell(supervisor_message::refused_process, errno);
    return 0;
  }
  // The program alone holds its streams, as if there were no supervisor.
  for (int number = 0; number <= report_descriptor; ++number)
    ::close(number);
  const bool stopped = wait_for_stop(child, signals.get(), host.get());
  ::kill(-child, SIGKILL);
  const auto [status, left] = kill_descendants(child, signals.get(), patience);
  tell(supervisor_message::ended, status, stopped, left);
  return 0;
}

} // namespace

int supervise() {
  ::close_range(control_descriptor + 1, ~0U, 0);
  restore_signals();
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  const descriptor source{job_descriptor};
  const auto bytes = read_to_end(source.get(), max_job_bytes);
  auto asked = bytes ? decode_job(*bytes) : fail(bytes.error());
  if (!asked || asked->argv.empty() || ::prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) {
    std::fprintf(stderr, "hearth-worker: %s; it is for Hearth itself to start\n",
                 asked ? "cannot become a subreaper" : asked.error().text().c_str());
    return exit_bad_job;
  }
  return run(*asked);
}

} // namespace hearth::worker
