#include "runtime/server/blocking_tasks.hpp"

#include "runtime/os/quiet_thread.hpp"

#include <cerrno>
#include <system_error>
#include <utility>

namespace hearth::server {

blocking_tasks::blocking_tasks() {
  auto started = os::start_quiet_thread("hearth.blocking", [this] { work(); });
  if (!started) throw std::system_error(EAGAIN, std::generic_category(), "a thread");
  thread_ = std::move(*started);
}

blocking_tasks::~blocking_tasks() {
  {
    const std::lock_guard lock(mutex_);
    is_ended_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void blocking_tasks::run(std::function<void()> task) {
  {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
  }
  changed_.notify_one();
}

void blocking_tasks::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return is_ended_ || !tasks_.empty(); });
    if (is_ended_) return;
    const auto task = std::move(tasks_.front());
    tasks_.pop_front();
    lock.unlock();
    task();
    lock.lock();
  }
}

} // namespace hearth::server
