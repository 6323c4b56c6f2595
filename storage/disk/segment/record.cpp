#include "storage/disk/segment/record.hpp"

#include <chrono>

namespace hearth::storage::disk {

std::int64_t unix_time_ms() noexcept {
  using namespace std::chrono;
  return duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
}

} // namespace hearth::storage::disk
