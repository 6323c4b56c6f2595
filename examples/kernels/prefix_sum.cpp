// Inclusive prefix sum: y[i] = x[0] + ... + x[i], in 32-bit integers.
//
// The trick: the sum inside a vector takes log2(VECTOR) shifted additions that wait for no other
// vector; only one addition per vector, of the sum so far, is a chain from end to end.
//
// VECTOR  integers in a vector: 1 (the plain loop), 2 or 4
// UNROLL  vectors at once
// Guard 0: n a multiple of 64, no tail. Guard 1: any size.

#include <cstdint>
#include <cstring>
#include <numeric>

namespace {

constexpr bool has_tail = HEARTH_GUARD != 0;

using ints __attribute__((vector_size(sizeof(int32_t) * VECTOR))) = int32_t;

/// The prefix sums inside one vector: adds the vector moved up by 1, 2, 4, ... lanes, zeros below.
ints scan(ints v) {
#if VECTOR == 2
  v += __builtin_shufflevector(v, ints{}, 2, 0);
#elif VECTOR == 4
  v += __builtin_shufflevector(v, ints{}, 4, 0, 1, 2);
  v += __builtin_shufflevector(v, ints{}, 4, 4, 0, 1);
#endif
  return v;
}

} // namespace

extern "C" void prefix_sum(void* const* buffers, const int64_t* sizes) {
  const int64_t n = sizes[0];
  const auto* x = static_cast<const int32_t*>(buffers[0]);
  auto* y = static_cast<int32_t*>(buffers[1]);
  ints before = {};
  int64_t i = 0;
  for (; i + UNROLL * VECTOR <= n; i += UNROLL * VECTOR) {
    ints sums[UNROLL];
    std::memcpy(sums, x + i, sizeof sums);
    for (ints& sum : sums) {
      const ints inside = scan(sum);
      sum = inside + before;
      before += ints{} + inside[VECTOR - 1];
    }
    std::memcpy(y + i, sums, sizeof sums);
  }
  if constexpr (has_tail) {
    int32_t total = before[0];
    for (; i < n; ++i)
      y[i] = total += x[i];
  }
}

extern "C" void prefix_sum_reference(void* const* buffers, const int64_t* sizes) {
  const auto* x = static_cast<const int32_t*>(buffers[0]);
  std::partial_sum(x, x + sizes[0], static_cast<int32_t*>(buffers[1]));
}
