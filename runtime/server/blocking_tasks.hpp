// A thread for what the connections' threads must not do: lists of the store, pages, slow hashes.
// Tasks run one after the other. Any thread.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace hearth::server {

class blocking_tasks {
public:
  /// Throws std::system_error when the system refuses the thread.
  blocking_tasks();
  blocking_tasks(const blocking_tasks&) = delete;
  blocking_tasks& operator=(const blocking_tasks&) = delete;
  /// Drops the tasks that have not begun.
  ~blocking_tasks();

  /// Runs `task` behind the others.
  void run(std::function<void()> task);

private:
  void work();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> tasks_;
  bool is_ended_ = false;
  std::thread thread_; // the last member: it uses the others
};

} // namespace hearth::server
