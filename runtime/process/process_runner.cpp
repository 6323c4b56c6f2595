#include "runtime/process/process_runner.hpp"

#include "runtime/os/environment.hpp"
#include "runtime/os/files/whole_file.hpp"
#include "runtime/os/find_program.hpp"
#include "runtime/os/kernel_version.hpp"
#include "runtime/process/bounded_output.hpp"
#include "runtime/process/last_line.hpp"
#include "runtime/process/supervised_process.hpp"
#include "runtime/process/worker_path.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <linux/seccomp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

namespace hearth::process {
namespace {

using worker::supervisor_message;
using clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// A supervisor stops killing after two seconds; one that has not answered after this time is stuck.
constexpr std::chrono::seconds stop_patience{10};
constexpr milliseconds longest_deadline = std::chrono::hours(24 * 365);

constexpr std::size_t max_pipe_bytes = 1 << 20; // the largest pipe of an unprivileged process

enum class stop_reason { none, deadline, cancelled };

expected<void> check(const process_request& request) {
  const auto has_nul = [](const std::string& text) { return text.find('\0') != text.npos; };
  if (request.argv.empty() || request.argv.front().empty())
    return fail(errc::invalid_argument, "a program to run without a name");
  if (std::ranges::any_of(request.argv, has_nul) ||
      std::ranges::any_of(request.environment, has_nul) || has_nul(request.directory))
    return fail(errc::invalid_argument,
                "a NUL byte in the arguments or the environment of " + request.argv.front());
  return {};
}

expected<std::string> program_of(const process_request& request) {
  const char* path = os::find_variable(request.environment, "PATH");
  return os::find_program(request.argv.front(), path ? path : os::search_path(), request.directory);
}

process_result cancelled_before_start() {
  process_result result;
  result.cancelled = true;
  return result;
}

// Follows one run from its start to the supervisor's last message.
class watch {
public:
  watch(const process_request& request, supervised_process process,
        const os::descriptor& stop_event)
      : request_(request)
      , process_(std::move(process))
      , started_(clock::now())
      , deadline_(started_ + std::clamp(request.deadline, milliseconds{0}, longest_deadline))
      , stop_event_(stop_event.get())
      , output_(request.output_limit)
      , errors_(request.output_limit) {}

  expected<process_result> follow();

private:
  // Positions in `ready_`.
  enum : std::size_t { output, errors, report, control, stop };

  milliseconds time_left() const;
  void stop_for(stop_reason why);
  void read_stream(std::size_t place, bounded_output& into);
  void read_output();
  void read_report();
  expected<process_result> finish(const supervisor_message& last);
  error refusal(const supervisor_message& why) const;
  error loss();

  const process_request& request_;
  supervised_process process_;
  clock::time_point started_;
  clock::time_point deadline_; // end of the run, or of its stop once that was requested
  int stop_event_;
  stop_reason stopped_ = stop_reason::none;
  bounded_output output_;
  bounded_output errors_;
  std::string report_;
  pollfd ready_[5] = {{process_.output(), POLLIN, 0},
                      {process_.errors(), POLLIN, 0},
                      {process_.report(), POLLIN, 0},
                      {process_.control(), POLLIN, 0},
                      {stop_event_, POLLIN, 0}};
};

milliseconds watch::time_left() const {
  // Rounded up: a wait that ends just before the deadline would be repeated without a pause.
  const auto left = std::chrono::ceil<milliseconds>(deadline_ - clock::now());
  return std::clamp(left, milliseconds{0}, milliseconds{std::chrono::hours(1)});
}

void watch::stop_for(stop_reason why) {
  stopped_ = why;
  process_.ask_to_stop();
  ready_[stop].fd = -1;
  deadline_ = clock::now() + stop_patience;
}

// Calls `take` with the available bytes, at most as many as a pipe can hold: a program that writes
// without a pause must not keep us from checking the deadline. Returns false at the end of the
// pipe.
template <class Take>
bool drain(int from, Take take) {
  char chunk[1 << 14];
  for (std::size_t taken = 0; taken < max_pipe_bytes;) {
    const auto n = ::read(from, chunk, sizeof chunk);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return n < 0 && errno == EAGAIN;
    take(std::string_view(chunk, static_cast<std::size_t>(n)));
    taken += static_cast<std::size_t>(n);
  }
  return true;
}

void watch::read_stream(std::size_t place, bounded_output& into) {
  const int from = ready_[place].fd;
  if (from >= 0 && !drain(from, [&](std::string_view bytes) { into.append(bytes); }))
    ready_[place].fd = -1;
}

void watch::read_output() {
  read_stream(output, output_);
  read_stream(errors, errors_);
}

void watch::read_report() {
  const auto keep = [&](std::string_view bytes) {
    report_ += bytes.substr(0, max_report_bytes - report_.size());
  };
  if (!drain(process_.report(), keep)) ready_[report].fd = -1;
}

expected<process_result> watch::follow() {
  for (;;) {
    if (::poll(ready_, std::size(ready_), static_cast<int>(time_left().count())) < 0) {
      if (errno == EINTR) continue;
      return fail(error_of_errno(errno, "cannot wait for " + request_.argv.front()));
    }
    if ((ready_[output].revents | ready_[errors].revents) != 0) read_output();
    if (ready_[report].revents != 0) read_report();
    if (ready_[control].revents != 0) {
      const auto message = process_.receive();
      if (!message) return fail(loss());
      if (message->what == supervisor_message::ended) return finish(*message);
      return fail(refusal(*message));
    }
    const bool late = clock::now() >= deadline_;
    if (stopped_ != stop_reason::none) {
      if (late) return fail(loss());
    } else if (ready_[stop].revents != 0) {
      stop_for(stop_reason::cancelled);
    } else if (late) {
      stop_for(stop_reason::deadline);
    }
  }
}

expected<process_result> watch::finish(const supervisor_message& last) {
  read_output();
  read_report();
  process_result result;
  result.timed_out = last.stopped && stopped_ == stop_reason::deadline;
  result.cancelled = last.stopped && stopped_ == stop_reason::cancelled;
  result.signal = WIFSIGNALED(last.number) ? WTERMSIG(last.number) : 0;
  result.exit_status = WIFEXITED(last.number) ? WEXITSTATUS(last.number) : 0;
  result.output = output_.text();
  result.errors = errors_.text();
  result.report = std::move(report_);
  if (request_.watch != watching::none) {
    auto seen = process_.sightings();
    result.blind_spot = seen ? std::move(seen->first) : seen.error().text();
    if (seen) result.sightings = std::move(seen->second);
  }
  result.wall_ns = std::chrono::nanoseconds(clock::now() - started_).count();
  return result;
}

error watch::refusal(const supervisor_message& why) const {
  const auto reason = std::generic_category().message(why.number);
  auto text = "cannot run " + request_.argv.front() + ": ";
  if (why.what == supervisor_message::refused_directory)
    text += "cannot change to " + request_.directory + ": ";
  if (why.what == supervisor_message::refused_cover)
    return {errc::unsupported, text + "no overlay over " + request_.directory + ": " + reason};
  if (why.what == supervisor_message::refused_process) text += "cannot make a process: ";
  return {errc::process_failed, text + reason};
}

error watch::loss() {
  read_output();
  auto text = "the supervisor of " + request_.argv.front() + " " + process_.ending();
  // With separate streams, the supervisor's messages are in stderr, with those of the program.
  const auto all = request_.streams_apart ? errors_.text() : output_.text();
  if (const auto said = last_line(all); !said.empty()) text += ": " + said;
  return {errc::process_failed, text};
}

} // namespace

bool can_watch() {
  const std::uint32_t action = SECCOMP_RET_USER_NOTIF;
  const bool is_known =
      os::is_linux_since(5, 9) && ::syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
  if (!is_known) return false;
  // Who may read another process's memory: from 2 on, hardly anyone.
  const auto yama = os::read_whole_file("/proc/sys/kernel/yama/ptrace_scope", 64);
  const bool is_free = ::prctl(PR_GET_SECCOMP, 0, 0, 0, 0) == SECCOMP_MODE_DISABLED &&
                       (!yama || yama->starts_with('0') || yama->starts_with('1'));
  static const bool is_watched = is_free || why_not_watched().empty();
  return is_watched;
}

std::string why_not_watched() {
  const auto worker = find_worker();
  if (!worker) return worker.error().text();
  process_request request;
  request.argv = {"/bin/true"};
  request.deadline = std::chrono::seconds(10);
  request.watch = watching::files;
  const auto run = subprocess_runner(*worker).run(request, {});
  return run ? run->blind_spot : run.error().text();
}

subprocess_runner::subprocess_runner(expected<std::string> worker)
    : worker_(std::move(worker)) {}

expected<process_result> subprocess_runner::run(const process_request& request,
                                                std::stop_token stop) {
  if (!worker_) return fail(errc::process_failed, worker_.error().text());
  if (auto valid = check(request); !valid) return fail(valid.error());
  if (stop.stop_requested()) return cancelled_before_start();
  const auto program = program_of(request);
  if (!program) return fail(program.error());
  os::descriptor stop_event;
  if (stop.stop_possible()) {
    auto event = os::make_event();
    if (!event) return fail(event.error());
    stop_event = std::move(*event);
  }
  const std::stop_callback signal_stop{stop, [&] { ::eventfd_write(stop_event.get(), 1); }};
  auto process = supervised_process::start(*worker_,
                                           {::getpid(), *program, request.directory, request.argv,
                                            request.environment, request.limits, request.watch,
                                            request.scratch, request.cover},
                                           request.input, request.streams_apart);
  if (!process) return fail(process.error());
  return watch{request, std::move(*process), stop_event}.follow();
}

} // namespace hearth::process
