// Cross-entropy loss of each row: loss[r] = log(sum of exp(logits)) - logits[label]; labels are
// taken modulo the n classes.
//
// The trick: the logarithm of a sum of exps needs the greatest logit first, lest exp overflow.
// Finding it on the way ("online") reads the row once instead of twice, but rescaling costs exps;
// rescaling only when a block of logits brings a new maximum makes it nearly free.
//
// ALGORITHM  0: libm's exp, two passes; 1: vector exp, two passes; 2: vector exp, online
// BLOCK      logits between two checks of the maximum (online), a multiple of VECTOR
// VECTOR     floats in a vector
// Guard 0: n a multiple of 128, no tails. Guard 1: any size.

#include "vec.hpp"

#include <algorithm>
#include <limits>

namespace {

using floats = vec::vector<float, VECTOR>;

static_assert(BLOCK % VECTOR == 0);
constexpr bool has_tails = HEARTH_GUARD != 0;

/// The greatest of some logits.
float largest_of(const float* x, int64_t n) {
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

/// The sum of exp(x - shift).
template <int Algorithm>
float sum_of_exps(const float* x, int64_t n, float shift) {
  float total = 0;
  int64_t j = 0;
  if constexpr (Algorithm != 0) {
    floats sums = {};
    for (; j + VECTOR <= n; j += VECTOR)
      sums += vec::exp(vec::load<floats>(x + j) - shift);
    total = vec::sum(sums);
  }
  if constexpr (has_tails || Algorithm == 0) {
    for (; j < n; ++j)
      total += std::exp(x[j] - shift);
  }
  return total;
}

template <int Algorithm>
float log_sum_of_exps(const float* x, int64_t n) {
  if constexpr (Algorithm != 2) {
    const float largest = largest_of(x, n);
    return largest + std::log(sum_of_exps<Algorithm>(x, n, largest));
  } else {
    float largest = std::numeric_limits<float>::lowest(), total = 0;
    for (int64_t j = 0; j < n; j += BLOCK) {
      const int64_t count = has_tails ? std::min<int64_t>(BLOCK, n - j) : BLOCK;
      const float candidate = largest_of(x + j, count);
      if (candidate > largest) {
        total *= std::exp(largest - candidate);
        largest = candidate;
      }
      total += sum_of_exps<Algorithm>(x + j, count, largest);
    }
    return largest + std::log(total);
  }
}

} // namespace

extern "C" void cross_entropy(void* const* buffers, const int64_t* sizes) {
  const int64_t rows = sizes[0], n = sizes[1];
  const auto* logits = static_cast<const float*>(buffers[0]);
  const auto* labels = static_cast<const int64_t*>(buffers[1]);
  auto* loss = static_cast<float*>(buffers[2]);
  for (int64_t r = 0; r < rows; ++r, logits += n) {
    const auto label = static_cast<uint64_t>(labels[r]) % static_cast<uint64_t>(n);
    loss[r] = log_sum_of_exps<ALGORITHM>(logits, n) - logits[label];
  }
}

extern "C" void cross_entropy_reference(void* const* buffers, const int64_t* sizes) {
  const int64_t rows = sizes[0], n = sizes[1];
  const auto* logits = static_cast<const float*>(buffers[0]);
  const auto* labels = static_cast<const int64_t*>(buffers[1]);
  auto* loss = static_cast<float*>(buffers[2]);
  for (int64_t r = 0; r < rows; ++r, logits += n) {
    double sum = 0;
    for (int64_t j = 0; j < n; ++j)
      sum += std::exp(double{logits[j]});
    loss[r] = static_cast<float>(std::log(sum) - logits[labels[r] % n]);
  }
}
