// Says that the calling thread waits for an answer of Hearth: when it runs a compile callback,
// another callback may have its place meanwhile, and actors that it was to run go to others. Costs
// next to nothing on any other thread.
#pragma once

namespace hearth {

class blocking_region {
public:
  blocking_region();
  blocking_region(const blocking_region&) = delete;
  blocking_region& operator=(const blocking_region&) = delete;
  ~blocking_region();

private:
  void* const state_; // of the callback_threads that the thread works for, or null
};

} // namespace hearth
