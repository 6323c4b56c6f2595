// Whether it is worth asking the remote tier: published by its actor, read by any thread.
#pragma once

#include <atomic>

namespace hearth::actors {

struct remote_gate {
  std::atomic<bool> is_open{true};
};

} // namespace hearth::actors
