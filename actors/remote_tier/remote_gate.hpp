// Whether requests should ask the remote tier. Its actor publishes this; any thread reads it.
#pragma once

#include <atomic>

namespace hearth::actors {

struct remote_gate {
  std::atomic<bool> is_open{true};
};

} // namespace hearth::actors
