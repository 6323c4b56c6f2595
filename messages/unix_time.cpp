#include "messages/unix_time.hpp"

#include <atomic>

namespace hearth {
namespace {

std::atomic<std::int64_t> simulated_ms{0}; // 0: the system's clock counts

} // namespace

std::int64_t unix_time_ms() noexcept {
  using namespace std::chrono;
  if (const auto simulated = simulated_ms.load(std::memory_order_relaxed)) return simulated;
  return duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
}

simulated_unix_time::simulated_unix_time(std::int64_t start_ms) noexcept {
  simulated_ms.store(start_ms);
}

simulated_unix_time::~simulated_unix_time() { simulated_ms.store(0); }

void simulated_unix_time::advance(std::chrono::milliseconds by) noexcept {
  simulated_ms.fetch_add(by.count());
}

} // namespace hearth
