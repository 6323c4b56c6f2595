#include "runtime/server/entries/unix_time.hpp"

#include <chrono>

namespace hearth::server {

std::int64_t unix_time_us() {
  using namespace std::chrono;
  return duration_cast<microseconds>(system_clock::now().time_since_epoch()).count();
}

} // namespace hearth::server
