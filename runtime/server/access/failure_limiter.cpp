#include "runtime/server/access/failure_limiter.hpp"

namespace hearth::server {

void failure_limiter::forget_first() {
  of_.erase(order_.front());
  order_.pop_front();
}

void failure_limiter::forget_ended(time_point now) {
  while (!order_.empty() && now - of_.at(order_.front()).begin >= period)
    forget_first();
}

void failure_limiter::note_failure(std::string_view address, time_point now) {
  forget_ended(now);
  const std::string key(address);
  auto at = of_.find(key);
  if (at == of_.end()) {
    if (order_.size() >= max_addresses) forget_first();
    at = of_.emplace(key, failures{now, 0}).first;
    order_.push_back(key);
  }
  ++at->second.count;
}

bool failure_limiter::is_limited(std::string_view address, time_point now) {
  forget_ended(now);
  const auto at = of_.find(std::string(address));
  return at != of_.end() && at->second.count >= max_failures;
}

} // namespace hearth::server
