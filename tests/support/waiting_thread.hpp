// Tells when a thread sleeps in the kernel. For tests of events that end a wait.
#pragma once

#include <atomic>
#include <fstream>
#include <string>
#include <sys/types.h>
#include <thread>
#include <unistd.h>

namespace hearth::test {

class waiting_thread {
public:
  /// Called by the thread, right before the call that waits.
  void waits_next() { number_ = ::gettid(); }
  /// Called by another thread: returns true when the thread sleeps, or false when it ended instead.
  bool falls_asleep() const {
    for (;; std::this_thread::yield()) {
      if (number_ == 0) continue;
      const auto now = state();
      if (now == 'S') return true;
      if (now == 0 || now == 'Z' || now == 'X') return false;
    }
  }

private:
  // The state in /proc; 0: there is no such thread.
  char state() const {
    std::ifstream in("/proc/self/task/" + std::to_string(number_) + "/stat");
    std::string text;
    std::getline(in, text);
    const auto name_end = text.rfind(") ");
    return name_end == std::string::npos ? char{0} : text[name_end + 2];
  }

  std::atomic<pid_t> number_{0};
};

} // namespace hearth::test
