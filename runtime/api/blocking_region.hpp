// Tells the owner of the calling thread that the thread is about to wait for Hearth. A thread that
// runs compile callbacks then lends its slot to another callback; a thread that runs actors hands
// them to other threads. On every other thread it costs one read of a thread-local pointer.
#pragma once

#include "messages/visibility.hpp"

namespace HEARTH_PUBLIC hearth {

/// Receives the begin and end of each wait of its thread, on that thread.
class blocking_observer {
public:
  virtual void wait_begins() = 0;
  virtual void wait_ends() = 0;

protected:
  ~blocking_observer() = default;
};

/// Sets the calling thread's observer (null: none) and returns the previous one. The observer must
/// outlive the thread or be replaced before it is destroyed.
blocking_observer* set_blocking_observer(blocking_observer* observer) noexcept;

/// Reports a wait of the calling thread, from its construction to its destruction.
class blocking_region {
public:
  blocking_region();
  blocking_region(const blocking_region&) = delete;
  blocking_region& operator=(const blocking_region&) = delete;
  ~blocking_region();

private:
  blocking_observer* const observer_; // null: no observer
};

} // namespace hearth
