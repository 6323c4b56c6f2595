// GELU in its tanh form: y[n] = x / 2 * (1 + tanh(u)), u = sqrt(2 / pi) * (x + 0.044715 x^3).
//
// The trick: (1 + tanh(u)) / 2 is 1 / (1 + exp(-2 u)), so one exp and one division do; a rational
// approximation of tanh (Eigen's) trades the exp for multiply-adds.
//
// ALGORITHM  0: libm's tanh; 1: through exp; 2: rational tanh
// VECTOR     floats in a vector
// Guard 0: n a multiple of 16, no tail. Guard 1: any size.

#include "vec.hpp"

namespace {

using floats = vec::vector<float, VECTOR>;

constexpr bool has_tail = HEARTH_GUARD != 0;

/// tanh as an odd polynomial over an even one, good to a few units in the last place.
[[maybe_unused]] floats rational_tanh(floats x) {
  const floats limit = vec::broadcast<floats>(7.90531110763549805f);
  x = vec::min(vec::max(x, -limit), limit);
  const floats x2 = x * x;
  floats p = vec::broadcast<floats>(-2.76076847742355e-16f);
  p = p * x2 + 2.00018790482477e-13f;
  p = p * x2 - 8.60467152213735e-11f;
  p = p * x2 + 5.12229709037114e-08f;
  p = p * x2 + 1.48572235717979e-05f;
  p = p * x2 + 6.37261928875436e-04f;
  p = p * x2 + 4.89352455891786e-03f;
  floats q = vec::broadcast<floats>(1.19825839466702e-06f);
  q = q * x2 + 1.18534705686654e-04f;
  q = q * x2 + 2.26843463243900e-03f;
  q = q * x2 + 4.89352518554385e-03f;
  return x * p / q;
}

template <int Algorithm>
floats gelu_of(floats x) {
  floats u = 0.7978845608f * (x + 0.044715f * x * x * x);
  if constexpr (Algorithm == 0) {
    for (int i = 0; i < VECTOR; ++i)
      u[i] = std::tanh(u[i]);
    return 0.5f * x * (1.0f + u);
  } else if constexpr (Algorithm == 1) {
    return x / (1.0f + vec::exp(-2.0f * u));
  } else {
    return 0.5f * x * (1.0f + rational_tanh(u));
  }
}

} // namespace

extern "C" void gelu(void* const* buffers, const int64_t* sizes) {
  const int64_t n = sizes[0];
  const auto* x = static_cast<const float*>(buffers[0]);
  auto* y = static_cast<float*>(buffers[1]);
  int64_t i = 0;
  for (; i + VECTOR <= n; i += VECTOR) {
    vec::store(y + i, gelu_of<ALGORITHM>(vec::load<floats>(x + i)));
  }
  if constexpr (has_tail) {
    const auto rest = static_cast<size_t>(n - i) * sizeof(float);
    floats last = {};
    std::memcpy(&last, x + i, rest);
    last = gelu_of<ALGORITHM>(last);
    std::memcpy(y + i, &last, rest);
  }
}

extern "C" void gelu_reference(void* const* buffers, const int64_t* sizes) {
  const auto* x = static_cast<const float*>(buffers[0]);
  auto* y = static_cast<float*>(buffers[1]);
  for (int64_t i = 0; i < sizes[0]; ++i) {
    const double v = x[i];
    const double u = 0.7978845608028654 * (v + 0.044715 * v * v * v);
    y[i] = static_cast<float>(0.5 * v * (1 + std::tanh(u)));
  }
}
