#include "runtime/engine/calls/requests.hpp"

namespace hearth::engine {

std::optional<std::chrono::steady_clock::time_point> end_of(const call_options& options) {
  if (options.deadline.count() <= 0) return std::nullopt;
  return std::chrono::steady_clock::now() + options.deadline;
}

} // namespace hearth::engine
