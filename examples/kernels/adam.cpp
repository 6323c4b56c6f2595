// One step of the Adam optimiser for n parameters p with gradients g and running means m of the
// gradient and v of its square (the sign of v is ignored):
// m' = 0.9 m + 0.1 g, v' = 0.999 |v| + 0.001 g^2, p' = p - 0.001 m' / (sqrt(v') + 1e-8).
//
// The trick: libm's square root has to set errno and so does not vectorise. 1 / sqrt(v) does: half
// the exponent, negated, by integer arithmetic on the bits, then Newton's steps, each of which
// doubles the number of right digits.
//
// NEWTON  Newton steps (0: libm's square root); the tolerance asks for 2
// VECTOR  floats in a vector
// Guard 0: n a multiple of 16, no tail. Guard 1: any size.

#include "vec.hpp"

namespace {

using floats = vec::vector<float, VECTOR>;
using ints = vec::vector<int32_t, VECTOR>;

constexpr bool has_tail = HEARTH_GUARD != 0;
constexpr float rate = 0.001f, mean_decay = 0.9f, square_decay = 0.999f, epsilon = 1e-8f;

floats square_root(floats x) {
  if constexpr (NEWTON == 0) {
    for (int i = 0; i < VECTOR; ++i)
      x[i] = std::sqrt(x[i]);
    return x;
  } else {
    floats inverse = std::bit_cast<floats>(0x5f3759df - (std::bit_cast<ints>(x) >> 1));
    for (int i = 0; i < NEWTON; ++i)
      inverse *= 1.5f - 0.5f * x * inverse * inverse;
    return x * inverse;
  }
}

struct state {
  floats p, m, v;
};

state step(const state& old, floats g) {
  const floats m = mean_decay * old.m + (1 - mean_decay) * g;
  const floats v = square_decay * vec::max(old.v, -old.v) + (1 - square_decay) * g * g;
  return {old.p - rate * m / (square_root(v) + epsilon), m, v};
}

/// A vector whose first `count` floats are read from memory; the others are zero.
floats load_some(const float* from, int64_t count) {
  floats value = {};
  std::memcpy(&value, from, static_cast<size_t>(count) * sizeof(float));
  return value;
}

void store_some(float* to, const floats& value, int64_t count) {
  std::memcpy(to, &value, static_cast<size_t>(count) * sizeof(float));
}

} // namespace

extern "C" void adam(void* const* buffers, const int64_t* sizes) {
  const int64_t n = sizes[0];
  const auto *p = static_cast<const float*>(buffers[0]), *g = static_cast<const float*>(buffers[1]),
             *m = static_cast<const float*>(buffers[2]), *v = static_cast<const float*>(buffers[3]);
  auto *new_p = static_cast<float*>(buffers[4]), *new_m = static_cast<float*>(buffers[5]),
       *new_v = static_cast<float*>(buffers[6]);
  const auto update = [&](int64_t i, int64_t count) {
    const state next =
        step({load_some(p + i, count), load_some(m + i, count), load_some(v + i, count)},
             load_some(g + i, count));
    store_some(new_p + i, next.p, count);
    store_some(new_m + i, next.m, count);
    store_some(new_v + i, next.v, count);
  };
  int64_t i = 0;
  for (; i + VECTOR <= n; i += VECTOR)
    update(i, VECTOR);
  if constexpr (has_tail) update(i, n - i);
}

extern "C" void adam_reference(void* const* buffers, const int64_t* sizes) {
  const auto *p = static_cast<const float*>(buffers[0]), *g = static_cast<const float*>(buffers[1]),
             *m = static_cast<const float*>(buffers[2]), *v = static_cast<const float*>(buffers[3]);
  auto *new_p = static_cast<float*>(buffers[4]), *new_m = static_cast<float*>(buffers[5]),
       *new_v = static_cast<float*>(buffers[6]);
  for (int64_t i = 0; i < sizes[0]; ++i) {
    const double mean = 0.9 * m[i] + 0.1 * g[i];
    const double square = 0.999 * std::abs(v[i]) + 0.001 * g[i] * g[i];
    new_m[i] = static_cast<float>(mean);
    new_v[i] = static_cast<float>(square);
    new_p[i] = static_cast<float>(p[i] - 0.001 * mean / (std::sqrt(square) + 1e-8));
  }
}
