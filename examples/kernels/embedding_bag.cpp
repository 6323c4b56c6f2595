// Embedding bag: y[b][d] = the mean of table[token] over the l tokens of each bag; tokens are
// taken modulo the v rows of the table.
//
// The trick: a strip of UNROLL vectors of the sum stays in registers over all tokens of the bag,
// instead of being read and written again for each token.
//
// UNROLL  vectors of a strip (0: the sum lives in memory)
// VECTOR  floats in a vector
// Guard 0: d a multiple of 64, no tails. Guard 1: any size.

#include "vec.hpp"

#include <vector>

namespace {

using floats = vec::vector<float, VECTOR>;

constexpr bool has_tails = HEARTH_GUARD != 0;

struct bag {
  std::vector<const float*> rows; ///< the rows of the table that its tokens name
  float factor;                   ///< 1 / number of tokens

  void find_rows(const int64_t* tokens, const float* table, int64_t v, int64_t d) {
    for (size_t i = 0; i < rows.size(); ++i) {
      rows[i] = table + static_cast<uint64_t>(tokens[i]) % static_cast<uint64_t>(v) * d;
    }
  }
};

/// Columns [column, column + Vectors vectors) of the mean.
template <int Vectors, typename Vector>
void mean_of_strip(const bag& b, int64_t column, float* y) {
  constexpr int64_t step = sizeof(Vector) / sizeof(float);
  Vector sums[Vectors] = {};
  for (const float* row : b.rows) {
    vec::unroll<Vectors>([&](auto u) { sums[u] += vec::load<Vector>(row + column + u * step); });
  }
  vec::unroll<Vectors>([&](auto u) { vec::store(y + column + u * step, sums[u] * b.factor); });
}

#if UNROLL > 0

void mean_of_bag(const bag& b, float* y, int64_t d) {
  int64_t column = 0;
  for (; column + UNROLL * VECTOR <= d; column += UNROLL * VECTOR) {
    mean_of_strip<UNROLL, floats>(b, column, y);
  }
  if constexpr (has_tails) {
    for (; column + VECTOR <= d; column += VECTOR)
      mean_of_strip<1, floats>(b, column, y);
    for (; column < d; ++column)
      mean_of_strip<1, float>(b, column, y);
  }
}

#else

void mean_of_bag(const bag& b, float* y, int64_t d) {
  for (int64_t column = 0; column < d; ++column)
    y[column] = 0;
  for (const float* row : b.rows) {
    for (int64_t column = 0; column < d; ++column)
      y[column] += row[column];
  }
  for (int64_t column = 0; column < d; ++column)
    y[column] *= b.factor;
}

#endif

} // namespace

extern "C" void embedding_bag(void* const* buffers, const int64_t* sizes) {
  const int64_t bags = sizes[0], length = sizes[1], v = sizes[2], d = sizes[3];
  const auto* tokens = static_cast<const int64_t*>(buffers[0]);
  const auto* table = static_cast<const float*>(buffers[1]);
  auto* y = static_cast<float*>(buffers[2]);
  bag b{std::vector<const float*>(static_cast<size_t>(length)), 1 / static_cast<float>(length)};
  for (int64_t i = 0; i < bags; ++i, tokens += length, y += d) {
    b.find_rows(tokens, table, v, d);
    mean_of_bag(b, y, d);
  }
}

extern "C" void embedding_bag_reference(void* const* buffers, const int64_t* sizes) {
  const int64_t bags = sizes[0], length = sizes[1], v = sizes[2], d = sizes[3];
  const auto* tokens = static_cast<const int64_t*>(buffers[0]);
  const auto* table = static_cast<const float*>(buffers[1]);
  auto* y = static_cast<float*>(buffers[2]);
  for (int64_t i = 0; i < bags; ++i) {
    for (int64_t column = 0; column < d; ++column) {
      double sum = 0;
      for (int64_t j = 0; j < length; ++j)
        sum += table[tokens[i * length + j] % v * d + column];
      y[i * d + column] = static_cast<float>(sum / static_cast<double>(length));
    }
  }
}
