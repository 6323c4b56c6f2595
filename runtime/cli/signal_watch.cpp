#include "runtime/cli/signal_watch.hpp"

#include "runtime/cli/io/output.hpp"
#include "runtime/os/quiet_thread.hpp"

#include <csignal>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

namespace hearth::cli {
namespace {

bool is_ignored(int number) {
  struct sigaction now {};
  return ::sigaction(number, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

// The signals that are watched: those that end a process and are not ignored.
sigset_t watched_signals() {
  sigset_t watched;
  sigemptyset(&watched);
  for (const int number : {SIGHUP, SIGINT, SIGQUIT, SIGTERM})
    if (!is_ignored(number)) sigaddset(&watched, number);
  return watched;
}

} // namespace

signal_watch::signal_watch(std::function<void()> hung_up, std::chrono::milliseconds patience)
    : hung_up_(std::move(hung_up))
    , patience_(patience)
    , end_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  const auto watched = watched_signals();
  signals_ = os::descriptor{::signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK)};
  if (!end_ || !signals_) return;
  ::pthread_sigmask(SIG_BLOCK, &watched, nullptr);
  thread_ = os::start_quiet_thread("hearth.signals", [this] { watch(); });
  if (!thread_) ::pthread_sigmask(SIG_UNBLOCK, &watched, nullptr);
}

signal_watch::~signal_watch() {
  if (!thread_) return;
  ::eventfd_write(end_.get(), 1);
  thread_->join();
}

void signal_watch::take_signal() {
  signalfd_siginfo taken{};
  if (::read(signals_.get(), &taken, sizeof taken) != sizeof taken) return;
  if (hung_up_ && taken.ssi_signo == SIGHUP) return hung_up_();
  int none = 0;
  signal_.compare_exchange_strong(none, static_cast<int>(taken.ssi_signo));
  stop_.request_stop();
}

void signal_watch::watch() {
  constexpr int forever = -1;
  pollfd ready[] = {{signals_.get(), POLLIN, 0}, {end_.get(), POLLIN, 0}};
  for (;;) {
    const int asked = signal_.load();
    const int count = ::poll(ready, 2, asked == 0 ? forever : static_cast<int>(patience_.count()));
    if (count == 0) ::_exit(run_signalled + asked);
    if (count < 0) continue;
    if (ready[1].revents != 0) return;
    take_signal();
  }
}

} // namespace hearth::cli
