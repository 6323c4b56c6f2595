#include "runtime/process/supervised_process.hpp"

#include "runtime/os/signal_name.hpp"

#include <cerrno>
#include <csignal>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <utility>

namespace hearth::process {
namespace {

// A supervisor ends at once after its last message.
constexpr std::chrono::seconds patience{5};

// The arguments of `posix_spawn`: the descriptors of the child, an empty signal mask, a new
// session.
class spawn_plan {
public:
  spawn_plan() {
    ::posix_spawn_file_actions_init(&actions_);
    ::posix_spawnattr_init(&attributes_);
    sigset_t none;
    sigemptyset(&none);
    ::posix_spawnattr_setsigmask(&attributes_, &none);
    ::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSID);
  }
  spawn_plan(const spawn_plan&) = delete;
  spawn_plan& operator=(const spawn_plan&) = delete;
  ~spawn_plan() {
    ::posix_spawnattr_destroy(&attributes_);
    ::posix_spawn_file_actions_destroy(&actions_);
  }

  void pass(const os::descriptor& ours, int as) {
    const int failed = ::posix_spawn_file_actions_adddup2(&actions_, ours.get(), as);
    if (failed != 0 && failed_ == 0) failed_ = failed;
  }

  // The supervisor's environment is empty: a job's LD_PRELOAD or LD_LIBRARY_PATH is for the job
  // only.
  expected<pid_t> spawn(const std::string& program) const {
    std::string words[] = {"hearth-worker", "supervise", std::string(worker::protocol_version)};
    char* argv[] = {words[0].data(), words[1].data(), words[2].data(), nullptr};
    char* environment[] = {nullptr};
    pid_t process = -1;
    int failed = failed_;
    if (failed == 0)
      failed = ::posix_spawn(&process, program.c_str(), &actions_, &attributes_, argv, environment);
    if (failed == 0) return process;
    return fail(errc::process_failed,
                error_of_errno(failed, "cannot start the supervisor " + program).text());
  }

private:
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
  int failed_ = 0;
};

} // namespace

expected<supervised_process> supervised_process::start(const std::string& program,
                                                       const worker::job& asked,
                                                       std::string_view input, bool streams_apart) {
  auto encoded = worker::encode_job(asked);
  if (encoded.size() > worker::max_job_bytes)
    return fail(errc::too_large, "more than 8 MiB of arguments and environment");
  auto standard_input = os::make_memory_file(input);
  if (!standard_input) return fail(standard_input.error());
  auto job_file = os::make_memory_file(encoded);
  if (!job_file) return fail(job_file.error());
  auto output = os::make_pipe();
  if (!output) return fail(output.error());
  auto errors = streams_apart ? os::make_pipe() : os::descriptor_pair{};
  if (!errors) return fail(errors.error());
  auto report = os::make_pipe();
  if (!report) return fail(report.error());
  auto control = os::make_message_sockets();
  if (!control) return fail(control.error());
  auto watch = os::make_memory_file("");
  if (!watch) return fail(watch.error());

  spawn_plan plan;
  plan.pass(*standard_input, STDIN_FILENO);
  plan.pass(output->theirs, STDOUT_FILENO);
  plan.pass(streams_apart ? errors->theirs : output->theirs, STDERR_FILENO);
  plan.pass(report->theirs, worker::report_descriptor);
  plan.pass(*job_file, worker::job_descriptor);
  plan.pass(control->theirs, worker::control_descriptor);
  plan.pass(*watch, worker::watch_descriptor);
  const auto process = plan.spawn(program);
  if (!process) return fail(process.error());

  supervised_process started;
  started.process_ = *process;
  started.handle_ = os::make_process_handle(*process);
  started.output_ = std::move(output->ours);
  started.errors_ = std::move(errors->ours);
  started.report_ = std::move(report->ours);
  started.control_ = std::move(control->ours);
  started.watch_ = std::move(*watch);
  return started;
}

supervised_process::supervised_process(supervised_process&& other) noexcept
    : process_(std::exchange(other.process_, -1))
    , status_(other.status_)
    , handle_(std::move(other.handle_))
    , output_(std::move(other.output_))
    , errors_(std::move(other.errors_))
    , report_(std::move(other.report_))
    , control_(std::move(other.control_))
    , watch_(std::move(other.watch_)) {}

supervised_process::~supervised_process() {
  if (process_ < 0) return;
  control_.reset();
  wait(patience);
}

expected<std::pair<std::string, std::string>> supervised_process::sightings() const {
  constexpr std::size_t max_bytes = std::size_t{256} << 20;
  ::lseek(watch_.get(), 0, SEEK_SET);
  auto report = os::read_to_end(watch_.get(), max_bytes);
  if (!report) return fail(report.error());
  const auto end = report->find('\n');
  if (end == report->npos) return fail(errc::malformed, "the supervisor has reported nothing");
  return std::pair(report->substr(0, end), report->substr(end + 1));
}

void supervised_process::ask_to_stop() const { ::shutdown(control_.get(), SHUT_WR); }

std::optional<worker::supervisor_message> supervised_process::receive() const {
  worker::supervisor_message message;
  ssize_t n = -1;
  do {
    n = ::recv(control_.get(), &message, sizeof message, 0);
  } while (n < 0 && errno == EINTR);
  if (n != sizeof message) return std::nullopt;
  return message;
}

// A host that ignores SIGCHLD, or waits for any child, may have reaped it: that is no error.
void supervised_process::wait(std::chrono::milliseconds patience_left) {
  pollfd ended{handle_.get(), POLLIN, 0};
  while (handle_ && ::poll(&ended, 1, static_cast<int>(patience_left.count())) <= 0) {
    if (errno == EINTR) continue;
    ::syscall(SYS_pidfd_send_signal, handle_.get(), SIGKILL, nullptr, 0);
    break;
  }
  while (::waitpid(process_, &status_, 0) < 0 && errno == EINTR) {
  }
  process_ = -1;
}

std::string supervised_process::ending() {
  wait(patience);
  if (WIFSIGNALED(status_)) return "was killed by " + os::signal_name(WTERMSIG(status_));
  return "ended with status " + std::to_string(WEXITSTATUS(status_));
}

} // namespace hearth::process
