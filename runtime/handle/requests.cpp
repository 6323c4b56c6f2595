#include "runtime/handle/requests.hpp"

namespace hearth {

error called_off() { return {errc::cancelled, "the caller called it off"}; }

std::optional<std::chrono::steady_clock::time_point> end_of(const call_options& options) {
  if (options.deadline.count() <= 0) return std::nullopt;
  return std::chrono::steady_clock::now() + options.deadline;
}

expected<outstanding::place> take_place(runtime_core& core) {
  if (core.ledger().holds_any(lease_ledger::this_thread())) return outstanding::place();
  return core.take_place();
}

} // namespace hearth
