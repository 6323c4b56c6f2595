// Matrix times vector: y[m] = A[m][n] * x[n].
//
// The trick: several rows at once share each loaded vector of x, and their sums are independent
// chains, so that the latency of a multiply-add is hidden behind the other rows' work.
//
// UNROLL  rows at once
// VECTOR  floats in a vector
// Guard 0: m a multiple of 8 and n of 16, no tails. Guard 1: any size.

#include "vec.hpp"

namespace {

using floats = vec::vector<float, VECTOR>;

constexpr bool has_tails = HEARTH_GUARD != 0;

/// y[0..Rows) = `Rows` rows of A times x.
template <int Rows>
void multiply_rows(const float* a, const float* x, float* y, int64_t n) {
  floats sums[Rows] = {};
  int64_t j = 0;
  for (; j + VECTOR <= n; j += VECTOR) {
    const floats line = vec::load<floats>(x + j);
    vec::unroll<Rows>([&](auto r) { sums[r] += vec::load<floats>(a + r * n + j) * line; });
  }
  vec::unroll<Rows>([&](auto r) {
    float total = vec::sum(sums[r]);
    if constexpr (has_tails) {
      for (int64_t i = j; i < n; ++i)
        total += a[r * n + i] * x[i];
    }
    y[r] = total;
  });
}

} // namespace

extern "C" void gemv(void* const* buffers, const int64_t* sizes) {
  const int64_t m = sizes[0], n = sizes[1];
  const auto* a = static_cast<const float*>(buffers[0]);
  const auto* x = static_cast<const float*>(buffers[1]);
  auto* y = static_cast<float*>(buffers[2]);
  int64_t i = 0;
  for (; i + UNROLL <= m; i += UNROLL)
    multiply_rows<UNROLL>(a + i * n, x, y + i, n);
  if constexpr (has_tails) {
    for (; i < m; ++i)
      multiply_rows<1>(a + i * n, x, y + i, n);
  }
}

extern "C" void gemv_reference(void* const* buffers, const int64_t* sizes) {
  const int64_t m = sizes[0], n = sizes[1];
  const auto* a = static_cast<const float*>(buffers[0]);
  const auto* x = static_cast<const float*>(buffers[1]);
  auto* y = static_cast<float*>(buffers[2]);
  for (int64_t i = 0; i < m; ++i) {
    double sum = 0;
    for (int64_t j = 0; j < n; ++j)
      sum += double{a[i * n + j]} * x[j];
    y[i] = static_cast<float>(sum);
  }
}
