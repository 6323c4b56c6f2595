// The threads of asynchronous compile callbacks: at most the allowed number at once, started on
// demand. A callback that waits for Hearth does not count, because the answer that it waits for may
// need a thread. Any thread may use it.
#pragma once

#include "messages/unique_function.hpp"

#include <memory>

namespace hearth::engine {

class callback_threads {
public:
  using task = unique_function<void()>;

  explicit callback_threads(unsigned max);
  callback_threads(const callback_threads&) = delete;
  callback_threads& operator=(const callback_threads&) = delete;
  ~callback_threads() { stop(); }

  /// Runs the task as soon as a thread is free; drops it after `refuse` or `stop`.
  void run(task one);
  /// Drops the tasks that have not begun, and all later ones.
  void refuse();
  /// The same; then waits for the running tasks, and ends the threads.
  void stop();

  struct state; ///< shared with the threads

private:
  std::shared_ptr<state> state_;
};

} // namespace hearth::engine
