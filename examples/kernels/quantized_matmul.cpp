// Quantised matrix product: c[m][n] = sum over k of (a[m][k] - 128) * (b[n][k] - 128), where a and
// b are bytes with zero point 128 and b holds the transposed weights.
//
// The trick: with operands widened to 16 bits and the zero point subtracted in advance, the inner
// loop is an instruction of vector units (products of 16-bit pairs, added in 32 bits); and TILE
// rows of b share each loaded piece of a.
//
// WIDEN  1: operands are widened in advance; 0: bytes are widened in the loop
// TILE   rows of b at once
// Guard 0: n a multiple of 8 and k of 64, no tails. Guard 1: any size.

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace {

constexpr bool has_tails = HEARTH_GUARD != 0;
constexpr int zero_point = 128;
constexpr int64_t k_step = 64;

using operand = std::conditional_t<WIDEN != 0, int16_t, uint8_t>;
constexpr int zero_point_of_operand = WIDEN != 0 ? 0 : zero_point;

std::vector<operand> prepare(const uint8_t* from, int64_t count) {
  std::vector<operand> to(static_cast<size_t>(count));
  constexpr int shift = zero_point - zero_point_of_operand;
  for (size_t i = 0; i < to.size(); ++i)
    to[i] = static_cast<operand>(from[i] - shift);
  return to;
}

int difference(operand x) { return x - zero_point_of_operand; }

/// c[0..Rows) = a row of a times `Rows` rows of b. Sums of integers may be reordered, so the
/// compiler vectorises the loop over p by itself.
template <int Rows>
void multiply_rows(const operand* a, const operand* b, int32_t* c, int64_t k) {
  if constexpr (!has_tails) k = k / k_step * k_step;
  int32_t sums[Rows] = {};
  for (int64_t p = 0; p < k; ++p) {
#pragma GCC unroll 8
    for (int r = 0; r < Rows; ++r)
      sums[r] += difference(a[p]) * difference(b[r * k + p]);
  }
  for (int r = 0; r < Rows; ++r)
    c[r] = sums[r];
}

void multiply(const operand* a, const operand* b, int32_t* c, int64_t m, int64_t n, int64_t k) {
  for (int64_t i = 0; i < m; ++i, a += k, c += n) {
    int64_t j = 0;
    for (; j + TILE <= n; j += TILE)
      multiply_rows<TILE>(a, b + j * k, c + j, k);
    if constexpr (has_tails) {
      for (; j < n; ++j)
        multiply_rows<1>(a, b + j * k, c + j, k);
    }
  }
}

} // namespace

extern "C" void quantized_matmul(void* const* buffers, const int64_t* sizes) {
  const int64_t m = sizes[0], n = sizes[1], k = sizes[2];
  const auto* a = static_cast<const uint8_t*>(buffers[0]);
  const auto* b = static_cast<const uint8_t*>(buffers[1]);
  auto* c = static_cast<int32_t*>(buffers[2]);
  multiply(prepare(a, m * k).data(), prepare(b, n * k).data(), c, m, n, k);
}

extern "C" void quantized_matmul_reference(void* const* buffers, const int64_t* sizes) {
  const int64_t m = sizes[0], n = sizes[1], k = sizes[2];
  const auto* a = static_cast<const uint8_t*>(buffers[0]);
  const auto* b = static_cast<const uint8_t*>(buffers[1]);
  auto* c = static_cast<int32_t*>(buffers[2]);
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      int32_t sum = 0;
      for (int64_t p = 0; p < k; ++p) {
        sum += (a[i * k + p] - zero_point) * (b[j * k + p] - zero_point);
      }
      c[i * n + j] = sum;
    }
  }
}
