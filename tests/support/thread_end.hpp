// Waits for the end of a thread that is not joined, including its last steps.
#pragma once

#include <latch>
#include <memory>

namespace hearth::test {

class thread_end {
public:
  /// Called by the thread, once.
  void watch_this_thread() {
    // Destroyed after all locals of the thread's function.
    thread_local struct notice {
      std::shared_ptr<std::latch> ended;
      ~notice() {
        if (ended) ended->count_down();
      }
    } mine;
    mine.ended = ended_;
  }
  /// Called by another thread.
  void wait() const { ended_->wait(); }

private:
  std::shared_ptr<std::latch> ended_ = std::make_shared<std::latch>(1);
};

} // namespace hearth::test
