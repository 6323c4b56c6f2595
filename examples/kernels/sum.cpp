// Sum of n doubles.
//
// The trick: a compiler may not reorder floating-point additions, so the plain loop is one chain
// whose every step waits for the last; the compiler can vectorise LANES independent sums, and more
// of them than one vector holds hide the latency too.
//
// LANES  independent sums
// Guard 0: n a multiple of 64, no tail. Guard 1: any size.

#include <cstdint>
#include <numeric>

namespace {

constexpr bool has_tail = HEARTH_GUARD != 0;

} // namespace

extern "C" void sum(void* const* buffers, const int64_t* sizes) {
  const int64_t n = sizes[0];
  const auto* x = static_cast<const double*>(buffers[0]);
  double lanes[LANES] = {};
  int64_t i = 0;
  for (; i + LANES <= n; i += LANES) {
    for (int lane = 0; lane < LANES; ++lane)
      lanes[lane] += x[i + lane];
  }
  double total = std::accumulate(lanes, lanes + LANES, 0.0);
  if constexpr (has_tail) total = std::accumulate(x + i, x + n, total);
  *static_cast<double*>(buffers[1]) = total;
}

/// Kahan's compensated sum: nearly exact.
extern "C" void sum_reference(void* const* buffers, const int64_t* sizes) {
  const auto* x = static_cast<const double*>(buffers[0]);
  double total = 0, lost = 0;
  for (int64_t i = 0; i < sizes[0]; ++i) {
    const double value = x[i] - lost;
    const double next = total + value;
    lost = (next - total) - value;
    total = next;
  }
  *static_cast<double*>(buffers[1]) = total;
}
