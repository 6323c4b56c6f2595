#include "runtime/server/status/latency_quantile.hpp"

#include <algorithm>
#include <numeric>

namespace hearth::server {

latency_buckets
read_buckets(const std::array<std::atomic<std::uint64_t>, latency_bounds_s.size() + 1>& from) {
  latency_buckets counts{};
  std::transform(from.begin(), from.end(), counts.begin(),
                 [](const auto& count) { return count.load(std::memory_order_relaxed); });
  return counts;
}

void add_buckets(latency_buckets& to, const latency_buckets& other) {
  for (std::size_t i = 0; i < to.size(); ++i)
    to[i] += other[i];
}

std::uint64_t count_of(const latency_buckets& buckets) {
  return std::accumulate(buckets.begin(), buckets.end(), std::uint64_t{0});
}

std::optional<double> latency_quantile_s(const latency_buckets& buckets, double quantile) {
  const auto all = count_of(buckets);
  if (all == 0) return std::nullopt;
  const auto rank = quantile * static_cast<double>(all);
  double below = 0;
  double lower_s = 0;
  for (std::size_t i = 0; i < latency_bounds_s.size(); ++i) {
    const auto here = static_cast<double>(buckets[i]);
    const auto upper_s = latency_bounds_s[i];
    if (here > 0 && below + here >= rank)
      return lower_s + (upper_s - lower_s) * std::max(0.0, rank - below) / here;
    below += here;
    lower_s = upper_s;
  }
  return latency_bounds_s.back();
}

} // namespace hearth::server
