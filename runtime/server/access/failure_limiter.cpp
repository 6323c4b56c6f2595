#include "runtime/server/access/failure_limiter.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <netinet/in.h>

namespace hearth::server {
namespace {

// What an address is counted by: of IPv6 the network, unless it stands for an address of IPv4.
std::string counted(std::string_view address) {
  std::string text(address);
  in6_addr bytes;
  if (::inet_pton(AF_INET6, text.c_str(), &bytes) != 1 || IN6_IS_ADDR_V4MAPPED(&bytes)) return text;
  std::fill(std::begin(bytes.s6_addr) + 8, std::end(bytes.s6_addr), std::uint8_t{0});
  char network[INET6_ADDRSTRLEN];
  return ::inet_ntop(AF_INET6, &bytes, network, sizeof network);
}

} // namespace

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
  const auto key = counted(address);
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
  const auto at = of_.find(counted(address));
  return at != of_.end() && at->second.count >= max_failures;
}

} // namespace hearth::server
