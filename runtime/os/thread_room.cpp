#include "runtime/os/thread_room.hpp"

#include "runtime/os/quiet_thread.hpp"

#include <mutex>
#include <string>
#include <vector>

namespace hearth::os {

expected<void> check_thread_room(unsigned count) {
  std::mutex gate;
  std::vector<std::thread> started;
  started.reserve(count);
  {
    const std::lock_guard closed(gate); // so that all of them live at the same time
    while (started.size() < count) {
      auto one = start_quiet_thread("hearth.room", [&gate] { const std::lock_guard passed(gate); });
      if (!one) break;
      started.push_back(std::move(*one));
    }
  }
  for (auto& one : started)
    one.join();
  if (started.size() == count) return {};
  return fail(errc::too_many_files,
              "cannot start " + std::to_string(count) + " threads, the system gives " +
                  std::to_string(started.size()) +
                  "; raise the limit of processes (ulimit -u) or of memory (ulimit -v)");
}

} // namespace hearth::os
