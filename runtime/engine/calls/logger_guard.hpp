// CAF stores its system's logger in each thread that spawns or asks actors, until that thread ends,
// and the system's destructor waits for it. The guard removes the logger from the thread again, so
// that a runtime can shut down while such threads live on. Create it on the stack, before the code
// that spawns or asks.
#pragma once

#include <caf/logger.hpp>

namespace hearth::engine {

class logger_guard {
public:
  logger_guard()
      : before_(caf::logger::current_logger()) {}
  logger_guard(const logger_guard&) = delete;
  logger_guard& operator=(const logger_guard&) = delete;
  /// A thread that had the system's logger before, as one of the host's system has, keeps it.
  ~logger_guard() {
    if (caf::logger::current_logger() != before_) caf::logger::set_current_actor_system(nullptr);
  }

private:
  const caf::logger* const before_;
};

} // namespace hearth::engine
