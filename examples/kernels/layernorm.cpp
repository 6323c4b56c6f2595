// Layer normalisation of each row: y[r][n] = (x - mean) / sqrt(variance + 1e-5) * gamma + beta.
//
// The trick: Welford's update is the safest way to a variance but one long chain of divisions. Two
// passes over a row that is in the cache are as safe and vectorise; one pass over the sums of x and
// x^2 reads the row once less, and is exact enough where the mean is small compared with the
// spread.
//
// ALGORITHM  0: Welford; 1: two passes; 2: sums of x and x^2
// UNROLL     vectors at once (independent sums)
// VECTOR     floats in a vector
// Guard 0: n a multiple of 64, no tails. Guard 1: any size.

#include "vec.hpp"

namespace {

using floats = vec::vector<float, VECTOR>;

constexpr bool has_tails = HEARTH_GUARD != 0;
constexpr float epsilon = 1e-5f;

struct moments {
  float mean, variance;
};

/// The sum over the row of x - shift, and that of its square.
struct row_sums {
  float linear = 0, square = 0;
};

[[maybe_unused]] row_sums sum_row(const float* x, int64_t n, float shift) {
  floats linear[UNROLL] = {}, square[UNROLL] = {};
  int64_t j = 0;
  for (; j + UNROLL * VECTOR <= n; j += UNROLL * VECTOR) {
    vec::unroll<UNROLL>([&](auto u) {
      const floats value = vec::load<floats>(x + j + u * VECTOR) - shift;
      linear[u] += value;
      square[u] += value * value;
    });
  }
  row_sums sums;
  vec::unroll<UNROLL>([&](auto u) {
    sums.linear += vec::sum(linear[u]);
    sums.square += vec::sum(square[u]);
  });
  if constexpr (has_tails) {
    for (; j < n; ++j) {
      sums.linear += x[j] - shift;
      sums.square += (x[j] - shift) * (x[j] - shift);
    }
  }
  return sums;
}

template <int Algorithm>
moments moments_of_row(const float* x, int64_t n) {
  const auto count = static_cast<float>(n);
  if constexpr (Algorithm == 0) {
    float mean = 0, squares = 0;
    for (int64_t j = 0; j < n; ++j) {
      const float delta = x[j] - mean;
      mean += delta / static_cast<float>(j + 1);
      squares += delta * (x[j] - mean);
    }
    return {mean, squares / count};
  } else if constexpr (Algorithm == 1) {
    const float mean = sum_row(x, n, 0).linear / count;
    return {mean, sum_row(x, n, mean).square / count};
  } else {
    const auto [linear, square] = sum_row(x, n, 0);
    const float mean = linear / count;
    return {mean, square / count - mean * mean};
  }
}

} // namespace

extern "C" void layernorm(void* const* buffers, const int64_t* sizes) {
  const int64_t rows = sizes[0], n = sizes[1];
  const auto* x = static_cast<const float*>(buffers[0]);
  const auto* gamma = static_cast<const float*>(buffers[1]);
  const auto* beta = static_cast<const float*>(buffers[2]);
  auto* __restrict y = static_cast<float*>(buffers[3]);
  for (int64_t r = 0; r < rows; ++r, x += n, y += n) {
    const auto [mean, variance] = moments_of_row<ALGORITHM>(x, n);
    const float scale = 1 / std::sqrt(variance + epsilon);
    for (int64_t j = 0; j < n; ++j)
      y[j] = (x[j] - mean) * scale * gamma[j] + beta[j];
  }
}

extern "C" void layernorm_reference(void* const* buffers, const int64_t* sizes) {
  const int64_t rows = sizes[0], n = sizes[1];
  const auto* x = static_cast<const float*>(buffers[0]);
  const auto* gamma = static_cast<const float*>(buffers[1]);
  const auto* beta = static_cast<const float*>(buffers[2]);
  auto* y = static_cast<float*>(buffers[3]);
  for (int64_t r = 0; r < rows; ++r, x += n, y += n) {
    double mean = 0, variance = 0;
    for (int64_t j = 0; j < n; ++j)
      mean += x[j] / static_cast<double>(n);
    for (int64_t j = 0; j < n; ++j) {
      variance += (x[j] - mean) * (x[j] - mean) / static_cast<double>(n);
    }
    const double scale = 1 / std::sqrt(variance + double{epsilon});
    for (int64_t j = 0; j < n; ++j) {
      y[j] = static_cast<float>((x[j] - mean) * scale * gamma[j] + beta[j]);
    }
  }
}
