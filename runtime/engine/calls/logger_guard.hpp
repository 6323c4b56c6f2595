// CAF leaves its system's logger with each thread that spawns or asks actors, until that thread
// ends, and the system's destructor waits for it. The guard gives the thread back the logger that
// it had, so that a runtime can shut down while threads that used it live on. On the stack, above
// the code that spawns or asks.
#pragma once

#include <caf/logger.hpp>

namespace hearth::engine {

class logger_guard {
public:
  logger_guard()
      : before_(caf::logger::current_logger()) {}
  logger_guard(const logger_guard&) = delete;
  logger_guard& operator=(const logger_guard&) = delete;
  /// A host's thread keeps the logger of the system that the runtime works in, if it had it.
  ~logger_guard() {
    if (caf::logger::current_logger() != before_) caf::logger::set_current_actor_system(nullptr);
  }

private:
  const caf::logger* const before_;
};

} // namespace hearth::engine
