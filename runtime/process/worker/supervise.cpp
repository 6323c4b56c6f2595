#include "runtime/process/worker/supervise.hpp"

#include "runtime/os/files/descriptor.hpp"
#include "runtime/process/worker/descendants.hpp"
#include "runtime/process/worker/job.hpp"
#include "runtime/process/worker/signals.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <fcntl.h>
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
  // Errors are ignored: the host may have ended.
  ::send(control_descriptor, &message, sizeof message, MSG_NOSIGNAL);
}

// The signals that would end the supervisor become readable instead, and so does the end of a
// child.
os::descriptor catch_signals() {
  sigset_t caught;
  sigemptyset(&caught);
  for (const int number : {SIGCHLD, SIGTERM, SIGINT, SIGHUP, SIGQUIT})
    sigaddset(&caught, number);
  ::sigprocmask(SIG_BLOCK, &caught, nullptr);
  return os::descriptor{::signalfd(-1, &caught, SFD_CLOEXEC | SFD_NONBLOCK)};
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (auto& text : texts)
    result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

void limit(decltype(RLIMIT_AS) what, std::uint64_t max) {
  if (max == 0) return;
  rlimit both{};
  ::getrlimit(what, &both);
  both.rlim_cur = both.rlim_max = std::min<rlim_t>(max, both.rlim_max);
  ::setrlimit(what, &both);
}

void apply(const resource_limits& limits) {
  limit(RLIMIT_CPU, limits.cpu_seconds);
  limit(RLIMIT_FSIZE, limits.file_bytes);
  limit(RLIMIT_NOFILE, limits.open_files);
  limit(RLIMIT_AS, limits.memory_bytes); // last: it limits this process itself, too
}

// In the child: becomes the program, or reports why not.
[[noreturn]] void become(const job& asked, char** argv, char** environment, pid_t supervisor) {
  ::setpgid(0, 0);
  // A second safeguard: if the supervisor itself is killed, the program is killed, too.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != supervisor) ::_exit(127);
  restore_signals();
  if (!asked.directory.empty() && ::chdir(asked.directory.c_str()) != 0) {
    tell(supervisor_message::refused_directory, errno);
  } else {
    apply(asked.limits);
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
  // Set here too, since the group may have to be killed before the child has set it.
  if (child > 0) ::setpgid(child, child);
  return child;
}

enum class seen { nothing, adopted, program };

// Looks for a process that has ended, and reaps it when it was adopted. The program itself is left
// unreaped, so that the number of its process group is not reused.
seen look_for_end(pid_t program) {
  siginfo_t ended{};
  if (::waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT) != 0 || ended.si_pid == 0)
    return seen::nothing;
  if (ended.si_pid == program) return seen::program;
  ::waitpid(ended.si_pid, nullptr, 0);
  return seen::adopted;
}

// Reads one signal. Returns true when it asks for a stop.
bool take_signal(int signals) {
  signalfd_siginfo taken;
  return ::read(signals, &taken, sizeof taken) == sizeof taken && taken.ssi_signo != SIGCHLD;
}

// Waits for the program's end. Returns true when it has to be stopped before.
bool wait_for_stop(pid_t program, int signals, int host) {
  pollfd ready[] = {{signals, POLLIN, 0}, {control_descriptor, POLLIN, 0}, {host, POLLIN, 0}};
  for (;;) {
    const auto ended = look_for_end(program);
    if (ended == seen::program) return false;
    // When one has ended there may be more, without a further signal.
    if (::poll(ready, 3, ended == seen::adopted ? 0 : -1) < 0 && errno != EINTR) return true;
    if (ready[1].revents != 0 || ready[2].revents != 0) return true;
    if (ready[0].revents != 0 && take_signal(signals)) return true;
  }
}

expected<job> read_job() {
  const os::descriptor source{job_descriptor};
  const auto bytes = os::read_to_end(source.get(), max_job_bytes);
  if (!bytes) return fail(bytes.error());
  auto asked = decode_job(*bytes);
  if (asked && asked->argv.empty()) return fail(errc::malformed, "a job without arguments");
  return asked;
}

int run(job& asked) {
  // Empty on an old kernel: then only the control socket tells the host's end.
  const auto host = os::make_process_handle(static_cast<pid_t>(asked.host));
  const auto signals = catch_signals();
  if (!signals || ::getppid() != asked.host) return exit_bad_job;
  const auto child = start(asked);
  if (child < 0) {
    tell(supervisor_message::refused_process, errno);
    return 0;
  }
  // Only the program holds its streams, as if there were no supervisor.
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
  // Closes the descriptors that the host leaked to its children; those opened from here on are
  // close-on-exec.
  ::closefrom(control_descriptor + 1);
  ::fcntl(control_descriptor, F_SETFD, FD_CLOEXEC);
  restore_signals();
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  auto asked = read_job();
  if (asked && ::prctl(PR_SET_CHILD_SUBREAPER, 1) != 0)
    asked = fail(error_of_errno(errno, "cannot become a subreaper"));
  if (asked) return run(*asked);
  std::fprintf(stderr, "hearth-worker: %s; it is for Hearth itself to start\n",
               asked.error().text().c_str());
  return exit_bad_job;
}

} // namespace hearth::worker
