// Transposition: y[n][m] = x[m][n].
//
// The trick: with reads along rows, each write goes to another cache line (and, at a power of two,
// to the same few cache sets). Blocks that fit the nearest cache use every line whole, and inside a
// block, register tiles turn TILE strided writes into one vector store.
//
// BLOCK  side of a cache block
// TILE   side of a register tile: 1, 4 or 8; divides BLOCK
// Guard 0: m and n multiples of 64, no edges. Guard 1: any size.

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace {

static_assert(BLOCK % TILE == 0);
constexpr bool has_edges = HEARTH_GUARD != 0;

#if TILE > 1
using row __attribute__((vector_size(sizeof(float) * TILE))) = float;

/// The lower and the upper halves of a and b, element by element.
#if TILE == 4
#define LOW_HALVES(a, b) __builtin_shufflevector(a, b, 0, 4, 1, 5)
#define HIGH_HALVES(a, b) __builtin_shufflevector(a, b, 2, 6, 3, 7)
#else
#define LOW_HALVES(a, b) __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11)
#define HIGH_HALVES(a, b) __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15)
#endif

/// Interleaving row i with row i + TILE / 2, log2(TILE) times over, is a transposition.
void transpose_tile(const float* x, float* y, int64_t m, int64_t n) {
  row rows[TILE], next[TILE];
  for (int i = 0; i < TILE; ++i)
    std::memcpy(&rows[i], x + i * n, sizeof(row));
  for (int round = 1; round < TILE; round *= 2) {
    for (int i = 0; i < TILE / 2; ++i) {
      next[2 * i] = LOW_HALVES(rows[i], rows[i + TILE / 2]);
      next[2 * i + 1] = HIGH_HALVES(rows[i], rows[i + TILE / 2]);
    }
    std::copy_n(next, TILE, rows);
  }
  for (int i = 0; i < TILE; ++i)
    std::memcpy(y + i * m, &rows[i], sizeof(row));
}
#else
void transpose_tile(const float* x, float* y, int64_t, int64_t) { *y = *x; }
#endif

/// A block of height x width elements; x and y point at its first one.
void transpose_block(const float* x, float* y, int64_t m, int64_t n, int64_t height,
                     int64_t width) {
  const int64_t tiled_height = height / TILE * TILE, tiled_width = width / TILE * TILE;
  for (int64_t i = 0; i < tiled_height; i += TILE) {
    for (int64_t j = 0; j < tiled_width; j += TILE) {
      transpose_tile(x + i * n + j, y + j * m + i, m, n);
    }
  }
  if constexpr (has_edges && TILE > 1) {
    for (int64_t i = 0; i < height; ++i) {
      for (int64_t j = i < tiled_height ? tiled_width : 0; j < width; ++j) {
        y[j * m + i] = x[i * n + j];
      }
    }
  }
}

} // namespace

extern "C" void transpose(void* const* buffers, const int64_t* sizes) {
  const int64_t m = sizes[0], n = sizes[1];
  const auto* x = static_cast<const float*>(buffers[0]);
  auto* y = static_cast<float*>(buffers[1]);
  for (int64_t i = 0; i < m; i += BLOCK) {
    const int64_t height = has_edges ? std::min<int64_t>(BLOCK, m - i) : BLOCK;
    for (int64_t j = 0; j < n; j += BLOCK) {
      const int64_t width = has_edges ? std::min<int64_t>(BLOCK, n - j) : BLOCK;
      transpose_block(x + i * n + j, y + j * m + i, m, n, height, width);
    }
  }
}

extern "C" void transpose_reference(void* const* buffers, const int64_t* sizes) {
  const int64_t m = sizes[0], n = sizes[1];
  const auto* x = static_cast<const float*>(buffers[0]);
  auto* y = static_cast<float*>(buffers[1]);
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j)
      y[j * m + i] = x[i * n + j];
  }
}
