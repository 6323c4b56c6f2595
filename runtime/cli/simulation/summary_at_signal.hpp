// Ends a long series of runs at a signal (Ctrl-C) with the summary of the runs so far, also while a
// run takes long. One per process, created by the main thread before any other thread.
#pragma once

#include "runtime/cli/io/output.hpp"
#include "runtime/cli/signal_watch.hpp"

#include <functional>
#include <mutex>
#include <stop_token>
#include <string>

namespace hearth::cli {

class summary_at_signal {
public:
  /// `summary` is called once, at a signal or by `finish`.
  explicit summary_at_signal(std::function<std::string()> summary)
      : summary_(std::move(summary))
      , at_signal_(signals_.token(), [this] { end(); }) {}

  /// Held while what `summary` reads changes, and while the command prints.
  [[nodiscard]] std::unique_lock<std::mutex> lock() { return std::unique_lock(mutex_); }
  /// Prints the summary of all runs; returns `ending`, or that of a failed write.
  status finish(status ending);

private:
  void end();

  const std::function<std::string()> summary_;
  std::mutex mutex_;
  bool is_finished_ = false;
  signal_watch signals_;
  std::stop_callback<std::function<void()>> at_signal_; // called on the watch's thread
};

} // namespace hearth::cli
