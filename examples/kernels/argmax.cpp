// Index of the greatest value of each row, the first of equals: index[r].
//
// The trick: carrying an index along with the maximum makes the loop slow. The greatest value alone
// is a plain vector maximum; the kernel takes it block by block, so that at the end it searches
// only the block that holds it.
//
// BLOCK   values in a block (0: the plain loop with an index)
// UNROLL  vectors at once (independent maxima)
// VECTOR  floats in a vector
// Guard 0: n a multiple of 512, no tails. Guard 1: any size.

#include "vec.hpp"

#include <algorithm>
#include <limits>

namespace {

using floats = vec::vector<float, VECTOR>;

constexpr bool has_tails = HEARTH_GUARD != 0;
constexpr float lowest = std::numeric_limits<float>::lowest();

float largest_of(const float* x, int64_t n) {
  floats best[UNROLL];
  vec::unroll<UNROLL>([&](auto u) { best[u] = vec::broadcast<floats>(lowest); });
  int64_t j = 0;
  for (; j + UNROLL * VECTOR <= n; j += UNROLL * VECTOR) {
    vec::unroll<UNROLL>(
        [&](auto u) { best[u] = vec::max(best[u], vec::load<floats>(x + j + u * VECTOR)); });
  }
  vec::unroll<UNROLL>([&](auto u) { best[0] = vec::max(best[0], best[u]); });
  float largest = vec::largest(best[0]);
  if constexpr (has_tails) {
    for (; j < n; ++j)
      largest = std::max(largest, x[j]);
  }
  return largest;
}

template <int64_t Block>
int64_t index_of_largest(const float* x, int64_t n) {
  float largest = lowest;
  int64_t place = 0;
  if constexpr (Block == 0) {
    for (int64_t j = 0; j < n; ++j) {
      if (x[j] > largest) {
        largest = x[j];
        place = j;
      }
    }
    return place;
  } else {
    for (int64_t j = 0; j < n; j += Block) {
      const float candidate = largest_of(x + j, has_tails ? std::min(Block, n - j) : Block);
      if (candidate > largest) {
        largest = candidate;
        place = j;
      }
    }
    return std::find(x + place, x + std::min(place + Block, n), largest) - x;
  }
}

} // namespace

extern "C" void argmax(void* const* buffers, const int64_t* sizes) {
  const int64_t rows = sizes[0], n = sizes[1];
  const auto* x = static_cast<const float*>(buffers[0]);
  auto* index = static_cast<int64_t*>(buffers[1]);
  for (int64_t r = 0; r < rows; ++r)
    index[r] = index_of_largest<BLOCK>(x + r * n, n);
}

extern "C" void argmax_reference(void* const* buffers, const int64_t* sizes) {
  const int64_t rows = sizes[0], n = sizes[1];
  const auto* x = static_cast<const float*>(buffers[0]);
  auto* index = static_cast<int64_t*>(buffers[1]);
  for (int64_t r = 0; r < rows; ++r, x += n)
    index[r] = std::max_element(x, x + n) - x;
}
