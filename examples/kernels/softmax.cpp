// Softmax of each row: y[r][n] = exp(x - max of the row) / sum of those.
//
// The trick: exp is nearly the whole cost, and a polynomial over vectors takes a fraction of
// libm's time.
//
// ALGORITHM  0: libm's exp; 1: the vector exp
// VECTOR     floats in a vector
// Guard 0: n a multiple of 16, no tails. Guard 1: any size.

#include "vec.hpp"

#include <algorithm>

namespace {

using floats = vec::vector<float, VECTOR>;

constexpr bool has_tails = HEARTH_GUARD != 0;

/// exp lane by lane.
floats exponential(floats x) {
  if constexpr (ALGORITHM == 1) return vec::exp(x);
  for (int i = 0; i < VECTOR; ++i)
    x[i] = std::exp(x[i]);
  return x;
}

float largest_of_row(const float* x, int64_t n) {
  floats best = vec::broadcast<floats>(x[0]);
  int64_t j = 0;
  for (; j + VECTOR <= n; j += VECTOR)
    best = vec::max(best, vec::load<floats>(x + j));
  float largest = vec::largest(best);
  if constexpr (has_tails) {
    for (; j < n; ++j)
      largest = std::max(largest, x[j]);
  }
  return largest;
}

/// y = exp(x - shift) for the row; returns the sum of y.
float exponentials_of_row(const float* x, float* y, int64_t n, float shift) {
  floats sums = {};
  int64_t j = 0;
  for (; j + VECTOR <= n; j += VECTOR) {
    const floats value = exponential(vec::load<floats>(x + j) - shift);
    vec::store(y + j, value);
    sums += value;
  }
  float total = vec::sum(sums);
  if constexpr (has_tails) {
    for (; j < n; ++j)
      total += y[j] = std::exp(x[j] - shift);
  }
  return total;
}

} // namespace

extern "C" void softmax(void* const* buffers, const int64_t* sizes) {
  const int64_t rows = sizes[0], n = sizes[1];
  const auto* x = static_cast<const float*>(buffers[0]);
  auto* y = static_cast<float*>(buffers[1]);
  for (int64_t r = 0; r < rows; ++r, x += n, y += n) {
    const float factor = 1 / exponentials_of_row(x, y, n, largest_of_row(x, n));
    for (int64_t j = 0; j < n; ++j)
      y[j] *= factor;
  }
}

extern "C" void softmax_reference(void* const* buffers, const int64_t* sizes) {
  const int64_t rows = sizes[0], n = sizes[1];
  const auto* x = static_cast<const float*>(buffers[0]);
  auto* y = static_cast<float*>(buffers[1]);
  for (int64_t r = 0; r < rows; ++r, x += n, y += n) {
    const double largest = *std::max_element(x, x + n);
    double sum = 0;
    for (int64_t j = 0; j < n; ++j)
      sum += std::exp(x[j] - largest);
    for (int64_t j = 0; j < n; ++j)
      y[j] = static_cast<float>(std::exp(x[j] - largest) / sum);
  }
}
