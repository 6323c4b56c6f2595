// Turns the signals that ask a command to end into a stop request. One per process, created by the
// main thread before any other thread; while it exists these signals have no other effect. Where
// the system has no descriptor or thread for it, they end the process as if there were no watch.
#pragma once

#include "runtime/os/files/descriptor.hpp"

#include <atomic>
#include <optional>
#include <stop_token>
#include <thread>

namespace hearth::cli {

class signal_watch {
public:
  /// Watches SIGHUP, SIGINT, SIGQUIT and SIGTERM, except those that were ignored before. A command
  /// that has not ended 9 s after the last of them is ended, with status 128 plus the first one.
  signal_watch();
  signal_watch(const signal_watch&) = delete;
  signal_watch& operator=(const signal_watch&) = delete;
  ~signal_watch();

  std::stop_token token() const { return stop_.get_token(); }
  /// The first signal received, or 0.
  int signal() const { return signal_.load(); }

private:
  void watch();
  void take_signal();

  std::stop_source stop_;
  std::atomic<int> signal_{0};
  os::descriptor signals_;
  os::descriptor end_;
  std::optional<std::thread> thread_; // empty: nothing is watched
};

} // namespace hearth::cli
