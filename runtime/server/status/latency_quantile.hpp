// Quantiles of the latency histogram. Pure functions, any thread.
#pragma once

#include "runtime/server/status/server_counters.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>

namespace hearth::server {

/// The requests of each bucket of `latency_bounds_s`; the last one has no bound.
using latency_buckets = std::array<std::uint64_t, latency_bounds_s.size() + 1>;

/// The counts at one time.
latency_buckets
read_buckets(const std::array<std::atomic<std::uint64_t>, latency_bounds_s.size() + 1>& from);
/// Adds each bucket of `other`.
void add_buckets(latency_buckets& to, const latency_buckets& other);
/// The number of requests.
std::uint64_t count_of(const latency_buckets& buckets);

/// The latency in seconds that a share of `quantile` (0 to 1) of the requests does not exceed, by
/// linear interpolation in its bucket, as Prometheus's `histogram_quantile` does. The highest bound
/// where it lies above. Nothing without a request.
std::optional<double> latency_quantile_s(const latency_buckets& buckets, double quantile);

} // namespace hearth::server
