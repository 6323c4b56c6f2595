// Turns the signals that ask a command to end into a stop request. One per process, created by the
// main thread before any other thread; while it exists these signals have no other effect. Where
// the system has no descriptor or thread for it, they end the process as if there were no watch.
#pragma once

#include "runtime/os/files/descriptor.hpp"

#include <atomic>
#include <chrono>
#include <functional>
#include <optional>
#include <stop_token>
#include <thread>

namespace hearth::cli {

class signal_watch {
public:
  /// How long a command may take to end: a supervisor stops killing after two seconds, so what is
  /// not over after this time is stuck.
  static constexpr std::chrono::milliseconds default_patience{9'000};

  /// Watches SIGHUP, SIGINT, SIGQUIT and SIGTERM, except those that were ignored before. A command
  /// that has not ended `patience` after the last of them is ended, with status 128 plus the first
  /// one. Where `hung_up` is given, SIGHUP calls it, on the watch's thread, and ends nothing.
  explicit signal_watch(std::function<void()> hung_up = {},
                        std::chrono::milliseconds patience = default_patience);
  signal_watch(const signal_watch&) = delete;
  signal_watch& operator=(const signal_watch&) = delete;
  ~signal_watch();

  std::stop_token token() const { return stop_.get_token(); }
  /// The first signal received, or 0.
  int signal() const { return signal_.load(); }

private:
  void watch();
  void take_signal();

  const std::function<void()> hung_up_; // empty: SIGHUP ends the command
  const std::chrono::milliseconds patience_;
  std::stop_source stop_;
  std::atomic<int> signal_{0};
  os::descriptor signals_;
  os::descriptor end_;
  std::optional<std::thread> thread_; // empty: nothing is watched
};

} // namespace hearth::cli
