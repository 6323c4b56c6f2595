// Attention of h heads, each y[t][d] = softmax(q k^T / sqrt(d)) v over t positions.
//
// The trick: keys are taken a block at a time with a running maximum, so that a block of scores
// never leaves the nearest cache (the "online" softmax of FlashAttention); keys are transposed
// first, so that scores are vectors over keys and need no horizontal sums; and TILE queries share
// every loaded key and value.
//
// TILE    queries at once
// BLOCK   keys at once, a multiple of VECTOR
// VECTOR  floats in a vector
// Guard 0: d = 64, known to the compiler, and t a multiple of 64. Guard 1: d a multiple of 16.
// Guard 2: any size.

#include "vec.hpp"

#include <algorithm>
#include <limits>
#include <vector>

namespace {

using floats = vec::vector<float, VECTOR>;

static_assert(BLOCK % VECTOR == 0);
constexpr bool is_fixed = HEARTH_GUARD == 0;
constexpr bool has_edges = HEARTH_GUARD == 2;
constexpr float lowest = std::numeric_limits<float>::lowest();

struct head {
  int64_t positions, depth;
  int64_t padded;         ///< positions rounded up to a multiple of VECTOR
  const float *q, *v;     ///< [positions][depth]
  std::vector<float> k_t; ///< [depth][padded]
};

/// The state of `Queries` queries during the pass over the blocks of keys.
template <int Queries>
struct tile {
  float scores[Queries][BLOCK];
  float largest[Queries];
  float total[Queries];
};

/// scores[q][j] = q . k[first + j] for the keys of a block; those beyond the last are `lowest`.
template <int Queries>
void score_block(const head& h, const float* q, int64_t first, int64_t keys, tile<Queries>& state) {
  const float scale = 1 / std::sqrt(static_cast<float>(h.depth));
  for (int64_t j = 0; j < keys; j += VECTOR) {
    floats sums[Queries] = {};
    const float* k = h.k_t.data() + first + j;
    for (int64_t p = 0; p < h.depth; ++p, k += h.padded) {
      const auto column = vec::load<floats>(k);
      vec::unroll<Queries>([&](auto i) { sums[i] += q[i * h.depth + p] * column; });
    }
    vec::unroll<Queries>([&](auto i) { vec::store(state.scores[i] + j, sums[i] * scale); });
  }
  for (int i = 0; i < Queries; ++i) {
    std::fill(state.scores[i] + keys, state.scores[i] + BLOCK, lowest);
  }
}

/// Turns the scores of one query into weights relative to its greatest score so far; returns the
/// factor by which everything weighted before has to shrink.
template <int Queries>
float weigh_block(tile<Queries>& state, int query) {
  float* scores = state.scores[query];
  floats best = vec::broadcast<floats>(state.largest[query]);
  for (int j = 0; j < BLOCK; j += VECTOR)
    best = vec::max(best, vec::load<floats>(scores + j));
  const float largest = vec::largest(best);
  floats sums = {};
  for (int j = 0; j < BLOCK; j += VECTOR) {
    const floats weight = vec::exp(vec::load<floats>(scores + j) - largest);
    vec::store(scores + j, weight);
    sums += weight;
  }
  const float shrink = std::exp(state.largest[query] - largest);
  state.total[query] = state.total[query] * shrink + vec::sum(sums);
  state.largest[query] = largest;
  return shrink;
}

/// y = y * shrink + weights * v for columns [column, column + width of Vector) of the tile.
template <int Queries, typename Vector>
void mix_columns(const head& h, const tile<Queries>& state, const float (&shrink)[Queries],
                 int64_t first, int64_t keys, int64_t column, float* y) {
  Vector sums[Queries];
  vec::unroll<Queries>(
      [&](auto i) { sums[i] = vec::load<Vector>(y + i * h.depth + column) * shrink[i]; });
  const float* v = h.v + first * h.depth + column;
  for (int64_t j = 0; j < keys; ++j, v += h.depth) {
    const auto value = vec::load<Vector>(v);
    vec::unroll<Queries>([&](auto i) { sums[i] += state.scores[i][j] * value; });
  }
  vec::unroll<Queries>([&](auto i) { vec::store(y + i * h.depth + column, sums[i]); });
}

/// The result of `Queries` queries from `query` on.
template <int Queries>
void attend(const head& h, int64_t query, float* y) {
  const float* q = h.q + query * h.depth;
  y += query * h.depth;
  tile<Queries> state;
  std::fill_n(state.largest, Queries, lowest);
  std::fill_n(state.total, Queries, 0.0f);
  std::fill_n(y, Queries * h.depth, 0.0f);
  for (int64_t first = 0; first < h.positions; first += BLOCK) {
    const int64_t keys = std::min<int64_t>(BLOCK, h.positions - first);
    score_block<Queries>(h, q, first, keys, state);
    float shrink[Queries];
    for (int i = 0; i < Queries; ++i)
      shrink[i] = weigh_block(state, i);
    int64_t column = 0;
    for (; column + VECTOR <= h.depth; column += VECTOR) {
      mix_columns<Queries, floats>(h, state, shrink, first, keys, column, y);
    }
    if constexpr (has_edges) {
      for (; column < h.depth; ++column) {
        mix_columns<Queries, float>(h, state, shrink, first, keys, column, y);
      }
    }
  }
  for (int i = 0; i < Queries; ++i) {
    for (int64_t p = 0; p < h.depth; ++p)
      y[i * h.depth + p] /= state.total[i];
  }
}

} // namespace

extern "C" void attention(void* const* buffers, const int64_t* sizes) {
  const int64_t heads = sizes[0], t = sizes[1], d = is_fixed ? 64 : sizes[2];
  const auto* q = static_cast<const float*>(buffers[0]);
  const auto* k = static_cast<const float*>(buffers[1]);
  const auto* v = static_cast<const float*>(buffers[2]);
  auto* y = static_cast<float*>(buffers[3]);
  const int64_t padded = (t + VECTOR - 1) / VECTOR * VECTOR;
  head h{t, d, padded, q, v, std::vector<float>(static_cast<size_t>(d * padded))};
  for (int64_t i = 0; i < heads; ++i, h.q += t * d, h.v += t * d, k += t * d, y += t * d) {
    for (int64_t j = 0; j < t; ++j) {
      for (int64_t p = 0; p < d; ++p)
        h.k_t[static_cast<size_t>(p * padded + j)] = k[j * d + p];
    }
    int64_t query = 0;
    for (; query + TILE <= t; query += TILE)
      attend<TILE>(h, query, y);
    for (; query < t; ++query)
      attend<1>(h, query, y);
  }
}

extern "C" void attention_reference(void* const* buffers, const int64_t* sizes) {
  const int64_t heads = sizes[0], t = sizes[1], d = sizes[2];
  const auto* q = static_cast<const float*>(buffers[0]);
  const auto* k = static_cast<const float*>(buffers[1]);
  const auto* v = static_cast<const float*>(buffers[2]);
  auto* y = static_cast<float*>(buffers[3]);
  std::vector<double> weights(static_cast<size_t>(t)), mixed(static_cast<size_t>(d));
  for (int64_t row = 0; row < heads * t; ++row) {
    const int64_t base = row / t * t * d;
    double total = 0;
    for (int64_t j = 0; j < t; ++j) {
      double score = 0;
      for (int64_t p = 0; p < d; ++p)
        score += double{q[row * d + p]} * k[base + j * d + p];
      total += weights[static_cast<size_t>(j)] =
          std::exp(score / std::sqrt(static_cast<double>(d)));
    }
    std::fill(mixed.begin(), mixed.end(), 0.0);
    for (int64_t j = 0; j < t; ++j) {
      const double weight = weights[static_cast<size_t>(j)] / total;
      for (int64_t p = 0; p < d; ++p)
        mixed[static_cast<size_t>(p)] += weight * v[base + j * d + p];
    }
    for (int64_t p = 0; p < d; ++p)
      y[row * d + p] = static_cast<float>(mixed[static_cast<size_t>(p)]);
  }
}
