// Matrix product C[m][n] = A[m][k] * B[k][n].
//
// The trick: a tile of C, TILE rows by UNROLL vectors, stays in registers over the whole of k, so
// each loaded value of A and B serves several multiply-adds; and the columns of B that the tile
// needs are packed into a contiguous panel first, which all rows of A then reuse from the cache.
//
// TILE    rows of the register tile
// UNROLL  vectors in a row of the register tile
// VECTOR  floats in a vector
// Guard 0: m a multiple of 12 and n of 32, no edges. Guard 1: any size.

#include "vec.hpp"

#include <algorithm>
#include <vector>

namespace {

using floats = vec::vector<float, VECTOR>;

constexpr bool has_edges = HEARTH_GUARD != 0;
constexpr int64_t width = UNROLL * VECTOR;

/// Copies `columns` columns of B from b on into rows of `width` floats, padded with zeros.
void pack_panel(const float* b, int64_t n, int64_t k, int64_t columns, float* panel) {
  for (int64_t p = 0; p < k; ++p, b += n, panel += width) {
    if (!has_edges || columns == width) {
      std::copy_n(b, width, panel);
    } else {
      std::fill(std::copy_n(b, columns, panel), panel + width, 0.0f);
    }
  }
}

/// One register tile: `Rows` rows of A times the panel; the first `columns` columns are stored.
template <int Rows>
void multiply_tile(const float* a, const float* panel, float* c, int64_t n, int64_t k,
                   int64_t columns) {
  floats sums[Rows][UNROLL] = {};
  for (int64_t p = 0; p < k; ++p) {
    floats line[UNROLL];
    vec::unroll<UNROLL>(
        [&](auto u) { line[u] = vec::load<floats>(panel + p * width + u * VECTOR); });
    vec::unroll<Rows>([&](auto r) {
      vec::unroll<UNROLL>([&](auto u) { sums[r][u] += a[r * k + p] * line[u]; });
    });
  }
  vec::unroll<Rows>([&](auto r) {
    if (!has_edges || columns == width) {
      vec::unroll<UNROLL>([&](auto u) { vec::store(c + r * n + u * VECTOR, sums[r][u]); });
    } else {
      float edge[width];
      vec::unroll<UNROLL>([&](auto u) { vec::store(edge + u * VECTOR, sums[r][u]); });
      std::copy_n(edge, columns, c + r * n);
    }
  });
}

} // namespace

extern "C" void matmul(void* const* buffers, const int64_t* sizes) {
  const int64_t m = sizes[0], n = sizes[1], k = sizes[2];
  const auto* a = static_cast<const float*>(buffers[0]);
  const auto* b = static_cast<const float*>(buffers[1]);
  auto* c = static_cast<float*>(buffers[2]);
  std::vector<float> panel(static_cast<size_t>(k * width));
  for (int64_t j = 0; j < n; j += width) {
    const int64_t columns = std::min(width, n - j);
    pack_panel(b + j, n, k, columns, panel.data());
    int64_t i = 0;
    for (; i + TILE <= m; i += TILE) {
      multiply_tile<TILE>(a + i * k, panel.data(), c + i * n + j, n, k, columns);
    }
    if constexpr (has_edges) {
      for (; i < m; ++i)
        multiply_tile<1>(a + i * k, panel.data(), c + i * n + j, n, k, columns);
    }
  }
}

extern "C" void matmul_reference(void* const* buffers, const int64_t* sizes) {
  const int64_t m = sizes[0], n = sizes[1], k = sizes[2];
  const auto* a = static_cast<const float*>(buffers[0]);
  const auto* b = static_cast<const float*>(buffers[1]);
  auto* c = static_cast<float*>(buffers[2]);
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (int64_t p = 0; p < k; ++p)
        sum += double{a[i * k + p]} * b[p * n + j];
      c[i * n + j] = static_cast<float>(sum);
    }
  }
}
