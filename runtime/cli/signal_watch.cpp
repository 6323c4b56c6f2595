#include "runtime/cli/signal_watch.hpp"

#include <csignal>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>

namespace hearth::cli {
namespace {

bool is_ignored(int number) {
  struct sigaction now {};
  return ::sigaction(number, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

os::descriptor catch_signals() {
  sigset_t caught;
  sigemptyset(&caught);
  for (const int number : {SIGHUP, SIGINT, SIGQUIT, SIGTERM})
    if (!is_ignored(number)) sigaddset(&caught, number);
  ::pthread_sigmask(SIG_BLOCK, &caught, nullptr);
  return os::descriptor{::signalfd(-1, &caught, SFD_CLOEXEC | SFD_NONBLOCK)};
}

} // namespace

signal_watch::signal_watch()
    : signals_(catch_signals())
    , end_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))
    , thread_([this] { watch(); }) {}

signal_watch::~signal_watch() {
  ::eventfd_write(end_.get(), 1);
  thread_.join();
}

void signal_watch::watch() {
  pollfd ready[] = {{signals_.get(), POLLIN, 0}, {end_.get(), POLLIN, 0}};
  for (;;) {
    if (::poll(ready, 2, -1) < 0) continue;
    if (ready[1].revents != 0) return;
    signalfd_siginfo taken{};
    if (::read(signals_.get(), &taken, sizeof taken) != sizeof taken) continue;
    int none = 0;
    signal_.compare_exchange_strong(none, static_cast<int>(taken.ssi_signo));
    stop_.request_stop();
  }
}

} // namespace hearth::cli
