// Turns the signals that ask a command to end into a stop request. One per process, created by the
// main thread before any other thread; while it exists these signals have no other effect.
#pragma once

#include "runtime/os/files/descriptor.hpp"

#include <atomic>
#include <stop_token>
#include <thread>

namespace hearth::cli {

class signal_watch {
public:
  /// Watches SIGHUP, SIGINT, SIGQUIT and SIGTERM, except those that were ignored before.
  signal_watch();
  signal_watch(const signal_watch&) = delete;
  signal_watch& operator=(const signal_watch&) = delete;
  ~signal_watch();

  std::stop_token token() const { return stop_.get_token(); }
  /// The first signal received, or 0.
  int signal() const { return signal_.load(); }

private:
  void watch();

  std::stop_source stop_;
  std::atomic<int> signal_{0};
  os::descriptor signals_;
  os::descriptor end_;
  std::thread thread_;
};

} // namespace hearth::cli
