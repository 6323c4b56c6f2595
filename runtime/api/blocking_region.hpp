// Tells the owner of the calling thread that the thread is about to wait for Hearth. A thread that
// runs compile callbacks then lends its slot to another callback; a thread that runs actors hands
// them to other threads. On every other thread it costs one read of a thread-local pointer.
#pragma once

namespace hearth {

/// Told of the waits of the thread that it was set for, on that thread.
class blocking_observer {
public:
  virtual void wait_begins() = 0;
  virtual void wait_ends() = 0;

protected:
  ~blocking_observer() = default;
};

/// Sets the calling thread's observer, which outlives the thread or is replaced before it ends;
/// null: none. Returns the one that was set before.
blocking_observer* set_blocking_observer(blocking_observer* observer) noexcept;

/// Lives while the calling thread waits.
class blocking_region {
public:
  blocking_region();
  blocking_region(const blocking_region&) = delete;
  blocking_region& operator=(const blocking_region&) = delete;
  ~blocking_region();

private:
  blocking_observer* const observer_; // null: none is set
};

} // namespace hearth
