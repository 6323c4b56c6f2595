// Whether requests should ask the remote tier. Its actor publishes this; any thread reads it.
#pragma once

#include <algorithm>
#include <atomic>
#include <memory>
#include <vector>

namespace hearth::actors {

struct remote_gate {
  std::atomic<bool> is_open{true};
  /// Whether the purges that other hosts made before this process began were applied, or cannot be
  /// had: until then the disk may hold what they removed.
  std::atomic<bool> has_heard{true};
  /// Of several tiers one behind the other: their gates. Then these count, and not the flags.
  std::vector<std::shared_ptr<const remote_gate>> parts{};

  /// Whether a tier may answer.
  bool may_answer() const {
    if (parts.empty()) return is_open.load(std::memory_order_relaxed);
    return std::any_of(parts.begin(), parts.end(),
                       [](const auto& one) { return one->may_answer(); });
  }
  /// Whether every tier `has_heard`.
  bool has_heard_all() const {
    if (parts.empty()) return has_heard.load(std::memory_order_acquire);
    return std::all_of(parts.begin(), parts.end(),
                       [](const auto& one) { return one->has_heard_all(); });
  }
};

} // namespace hearth::actors
