// Root mean square normalisation of each row: y[t][n] = x / sqrt(mean of x^2 + 1e-6) * weight.
//
// The trick: a sum is a chain of additions, each of which waits for the one before; UNROLL
// independent sums keep the adders busy.
//
// UNROLL  vectors at once (independent sums)
// VECTOR  floats in a vector
// Guard 0: n a multiple of 64, no tails. Guard 1: any size.

#include "vec.hpp"

namespace {

using floats = vec::vector<float, VECTOR>;

constexpr bool has_tails = HEARTH_GUARD != 0;
constexpr int64_t step = UNROLL * VECTOR;
constexpr float epsilon = 1e-6f;

float sum_of_squares(const float* x, int64_t n) {
  floats sums[UNROLL] = {};
  int64_t j = 0;
  for (; j + step <= n; j += step) {
    vec::unroll<UNROLL>([&](auto u) {
      const auto value = vec::load<floats>(x + j + u * VECTOR);
      sums[u] += value * value;
    });
  }
  float total = 0;
  vec::unroll<UNROLL>([&](auto u) { total += vec::sum(sums[u]); });
  if constexpr (has_tails) {
    for (; j < n; ++j)
      total += x[j] * x[j];
  }
  return total;
}

/// y = x * scale * weight for the row.
void scale_row(const float* x, const float* weight, float* y, int64_t n, float scale) {
  int64_t j = 0;
  for (; j + step <= n; j += step) {
    vec::unroll<UNROLL>([&](auto u) {
      const int64_t at = j + u * VECTOR;
      vec::store(y + at, vec::load<floats>(x + at) * scale * vec::load<floats>(weight + at));
    });
  }
  if constexpr (has_tails) {
    for (; j < n; ++j)
      y[j] = x[j] * scale * weight[j];
  }
}

} // namespace

extern "C" void rmsnorm(void* const* buffers, const int64_t* sizes) {
  const int64_t rows = sizes[0], n = sizes[1];
  const auto* x = static_cast<const float*>(buffers[0]);
  const auto* weight = static_cast<const float*>(buffers[1]);
  auto* y = static_cast<float*>(buffers[2]);
  for (int64_t r = 0; r < rows; ++r, x += n, y += n) {
    const float mean = sum_of_squares(x, n) / static_cast<float>(n);
    scale_row(x, weight, y, n, 1 / std::sqrt(mean + epsilon));
  }
}

extern "C" void rmsnorm_reference(void* const* buffers, const int64_t* sizes) {
  const int64_t rows = sizes[0], n = sizes[1];
  const auto* x = static_cast<const float*>(buffers[0]);
  const auto* weight = static_cast<const float*>(buffers[1]);
  auto* y = static_cast<float*>(buffers[2]);
  for (int64_t r = 0; r < rows; ++r, x += n, y += n) {
    double squares = 0;
    for (int64_t j = 0; j < n; ++j)
      squares += double{x[j]} * x[j];
    const double scale = 1 / std::sqrt(squares / static_cast<double>(n) + double{epsilon});
    for (int64_t j = 0; j < n; ++j)
      y[j] = static_cast<float>(x[j] * scale * weight[j]);
  }
}
