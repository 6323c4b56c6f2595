#include "runtime/handle/requests.hpp"

namespace hearth {

error called_off() { return {errc::cancelled, "the caller called it off"}; }

std::optional<std::chrono::steady_clock::time_point> end_of(const call_options& options) {
  if (options.deadline.count() <= 0) return std::nullopt;
  return std::chrono::steady_clock::now() + options.deadline;
}

expected<std::shared_ptr<void>> take_place(runtime_core& core) {
  if (core.ledger().holds_any(lease_ledger::this_thread())) return std::shared_ptr<void>();
  return core.take_ticket();
}

} // namespace hearth
