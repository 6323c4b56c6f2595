#include "storage/remote/breaker.hpp"

#include <algorithm>

namespace hearth::storage {
namespace {

// splitmix64
std::uint64_t next_random(std::uint64_t& state) noexcept {
  auto z = state += 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

} // namespace

void breaker::succeed() noexcept {
  if (is_closed()) failures_ = 0;
}

bool breaker::fail(bool opens_at_once) noexcept {
  if (!is_closed()) return false;
  if (++failures_ < options_.max_failures && !opens_at_once) return false;
  phase_ = phase::open;
  probes_ = 0;
  ++openings_;
  return true;
}

// A random time between half and all of a delay that doubles with each failed probe.
std::chrono::milliseconds breaker::backoff() noexcept {
  constexpr unsigned max_doublings = 20;
  const auto max = std::max<std::int64_t>(1, options_.max_backoff.count());
  const auto first = std::clamp<std::int64_t>(options_.first_backoff.count(), 1, max);
  const auto whole = std::min(max, first << std::min(probes_, max_doublings));
  const auto part = static_cast<std::uint64_t>(whole - whole / 2) + 1;
  return std::chrono::milliseconds(whole / 2 +
                                   static_cast<std::int64_t>(next_random(random_) % part));
}

void breaker::begin_probe() noexcept {
  if (phase_ == phase::open) phase_ = phase::half_open;
}

void breaker::end_probe(bool well) noexcept {
  if (phase_ != phase::half_open) return;
  phase_ = well ? phase::closed : phase::open;
  failures_ = 0;
  probes_ = well ? 0 : probes_ + 1;
}

std::string_view to_string(breaker::phase phase) noexcept {
  switch (phase) {
  case breaker::phase::closed: return "closed";
  case breaker::phase::open: return "open";
  case breaker::phase::half_open: return "half_open";
  }
  return "?";
}

} // namespace hearth::storage
