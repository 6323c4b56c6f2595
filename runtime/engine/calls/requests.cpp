#include "runtime/engine/calls/requests.hpp"

namespace hearth::engine {
namespace {

constexpr std::chrono::hours endless{24 * 365 * 100}; // now and this still fit a time point

} // namespace

std::optional<std::chrono::steady_clock::time_point> end_of(const call_options& options) {
  const auto& deadline = options.deadline();
  if (!deadline || *deadline > endless) return std::nullopt;
  const auto now = std::chrono::steady_clock::now();
  return deadline->count() <= 0 ? now : now + *deadline;
}

std::optional<error> over_at_once(const call_options& options) {
  if (options.stop().stop_requested()) return called_off();
  if (options.deadline() && options.deadline()->count() <= 0)
    return error{errc::timeout, "a deadline of zero: what is not known at once is not waited for"};
  return std::nullopt;
}

} // namespace hearth::engine
