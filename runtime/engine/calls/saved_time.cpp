#include "runtime/engine/calls/saved_time.hpp"

namespace hearth::engine {

void saved_time::note(const artifact& hit) {
  const auto saved = time_taken(hit);
  if (saved.count() == 0) return;
  const auto before = total_ns_.fetch_add(saved.count(), std::memory_order_relaxed);
  counters_->add_time_saved(saved);
  told_(saved, std::chrono::nanoseconds(before) + saved);
}

} // namespace hearth::engine
