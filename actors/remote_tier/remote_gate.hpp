// Whether requests should ask the remote tier. Its actor publishes this; any thread reads it.
#pragma once

#include <atomic>

namespace hearth::actors {

struct remote_gate {
  std::atomic<bool> is_open{true};
  /// Whether the purges that other hosts made before this process began were applied, or cannot be
  /// had: until then the disk may hold what they removed.
  std::atomic<bool> has_heard{true};
};

} // namespace hearth::actors
