#include "runtime/process/worker/supervise.hpp"

#include "runtime/os/files/descriptor.hpp"
#include "runtime/process/worker/cover.hpp"
#include "runtime/process/worker/descendants.hpp"
#include "runtime/process/worker/job.hpp"
#include "runtime/process/worker/signals.hpp"
#include "runtime/process/worker/watcher.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <fcntl.h>
#include <optional>
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
[[noreturn]] void become(const job& asked, char** argv, char** environment, pid_t supervisor,
                         int watch_socket) {
  ::setpgid(0, 0);
  const int uncovered = asked.cover ? cover_folder(*asked.cover) : 0;
  // A second safeguard: if the supervisor itself is killed, the program is killed, too.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != supervisor) ::_exit(127);
  restore_signals();
  if (uncovered != 0) {
    tell(supervisor_message::refused_cover, uncovered);
  } else if (!asked.directory.empty() && ::chdir(asked.directory.c_str()) != 0) {
    tell(supervisor_message::refused_directory, errno);
  } else {
    // Before the limits, which may leave no descriptor for it.
    if (watch_socket >= 0) {
      // Only a trial reports, which is not watched.
      ::fcntl(report_descriptor, F_SETFD, FD_CLOEXEC);
      pass_listener(watch_socket, install_filter(asked.watch == watching::files_and_links));
    }
    apply(asked.limits);
    ::execve(asked.program.c_str(), argv, environment);
    tell(supervisor_message::refused_program, errno);
  }
  ::_exit(127);
}

struct started_job {
  pid_t program = -1;              ///< or -1, with errno
  std::optional<watcher> watching; ///< unless it is not watched
  std::string unwatched;           ///< why it is not, although it was asked for
};

// The child stops at its first watched call, which is the one that becomes the program, until its
// listener is received and answers.
started_job start(job& asked) {
  auto argv = pointers(asked.argv);
  auto environment = pointers(asked.environment);
  const bool is_watched = asked.watch != watching::none;
  auto sockets = is_watched ? os::make_message_sockets() : os::descriptor_pair{};
  const int theirs = sockets ? sockets->theirs.get() : -1;
  const auto supervisor = ::getpid();
  started_job started;
  started.program = ::fork();
  if (started.program == 0) become(asked, argv.data(), environment.data(), supervisor, theirs);
  if (started.program < 0) return started;
  // Set here too, since the group may have to be killed before the child has set it.
  ::setpgid(started.program, started.program);
  if (!is_watched) return started;
  if (!sockets) {
    started.unwatched = sockets.error().text();
    return started;
  }
  sockets->theirs.reset();
  auto listener = receive_listener(sockets->ours.get());
  if (listener)
    started.watching.emplace(std::move(*listener), asked.scratch, asked.cover);
  else
    started.unwatched = listener.error().text();
  return started;
}

// Writes what was seen where the host reads it: a line that says why not everything was, then all
// of it.
void report_sightings(const started_job& started) {
  if (!started.watching && started.unwatched.empty()) return;
  const auto& why = started.watching ? started.watching->blind_spot() : started.unwatched;
  auto report = why + "\n";
  if (started.watching) report += encode_sightings(started.watching->sightings());
  (void)os::write_all(watch_descriptor, report);
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

// Answers a call of a watched process, or notes that all of them have ended.
void answer_call(watcher& watching, pollfd& listener) {
  if ((listener.revents & POLLIN) != 0) return watching.answer();
  watching.end();
  listener.fd = -1;
}

// Waits for the program's end. Returns true when it has to be stopped before. A watched compile
// makes hundreds of calls, so each one costs as few system calls as can be.
bool wait_for_stop(started_job& job, int signals, int host) {
  pollfd ready[] = {{signals, POLLIN, 0},
                    {control_descriptor, POLLIN, 0},
                    {host, POLLIN, 0},
                    {job.watching ? job.watching->listener() : -1, POLLIN, 0}};
  bool may_have_ended = true; // as a signal tells
  for (;;) {
    const auto ended = may_have_ended ? look_for_end(job.program) : seen::nothing;
    if (ended == seen::program) return false;
    // When one has ended there may be more, without a further signal.
    may_have_ended = ended == seen::adopted;
    if (::poll(ready, 4, may_have_ended ? 0 : -1) < 0) {
      if (errno == EINTR) continue;
      return true;
    }
    if (ready[1].revents != 0 || ready[2].revents != 0) return true;
    if (ready[0].revents != 0) {
      if (take_signal(signals)) return true;
      may_have_ended = true;
    }
    if (ready[3].revents != 0) answer_call(*job.watching, ready[3]);
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
  auto started = start(asked);
  if (started.program < 0) {
    tell(supervisor_message::refused_process, errno);
    return 0;
  }
  // Only the program holds its streams, as if there were no supervisor.
  for (int number = 0; number <= report_descriptor; ++number)
    ::close(number);
  const bool stopped = wait_for_stop(started, signals.get(), host.get());
  ::kill(-started.program, SIGKILL);
  const auto [status, left] = kill_descendants(started.program, signals.get(), patience);
  report_sightings(started);
  tell(supervisor_message::ended, status, stopped, left);
  return 0;
}

} // namespace

int supervise() {
  // Closes the descriptors that the host leaked to its children; those opened from here on are
  // close-on-exec.
  ::closefrom(watch_descriptor + 1);
  ::fcntl(control_descriptor, F_SETFD, FD_CLOEXEC);
  ::fcntl(watch_descriptor, F_SETFD, FD_CLOEXEC);
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
