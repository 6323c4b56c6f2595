// Rotary position embedding: each pair (x[p], x[p + d]) of a head's 2 d values is rotated by the
// angle position * 10000^(-p / d).
//
// The trick: sines and cosines are nearly the whole cost. The angle grows by the same step from
// one position to the next, so the rotation itself can be rotated on (two multiply-adds); every
// BLOCK positions it is computed afresh, before rounding errors add up.
//
// BLOCK   positions from one fresh computation to the next (1: no trick)
// VECTOR  floats in a vector
// Guard 0: d a multiple of 16, no tails. Guard 1: any size.

#include "vec.hpp"

#include <vector>

namespace {

using floats = vec::vector<float, VECTOR>;

constexpr bool has_tails = HEARTH_GUARD != 0;

double frequency(int64_t p, int64_t d) {
  return std::pow(10000.0, -static_cast<double>(p) / static_cast<double>(d));
}

/// d rotations, one a pair.
struct rotations {
  std::vector<float> cosine, sine;

  explicit rotations(int64_t d)
      : cosine(static_cast<size_t>(d))
      , sine(static_cast<size_t>(d)) {}

  /// Computes the rotations of one position.
  void compute(int64_t position) {
    const auto d = static_cast<int64_t>(cosine.size());
    for (size_t p = 0; p < cosine.size(); ++p) {
      const double angle = static_cast<double>(position) * frequency(static_cast<int64_t>(p), d);
      cosine[p] = static_cast<float>(std::cos(angle));
      sine[p] = static_cast<float>(std::sin(angle));
    }
  }
};

/// (re, im)[p] of the result = (re, im)[p] * (cosine, sine)[p]; the result may overwrite them.
void rotate(const float* re, const float* im, const rotations& by, int64_t d, float* out_re,
            float* out_im) {
  const float *cosine = by.cosine.data(), *sine = by.sine.data();
  int64_t p = 0;
  for (; p + VECTOR <= d; p += VECTOR) {
    const auto a = vec::load<floats>(re + p), b = vec::load<floats>(im + p);
    const auto c = vec::load<floats>(cosine + p), s = vec::load<floats>(sine + p);
    vec::store(out_re + p, a * c - b * s);
    vec::store(out_im + p, a * s + b * c);
  }
  if constexpr (has_tails) {
    for (; p < d; ++p) {
      const float a = re[p], b = im[p];
      out_re[p] = a * cosine[p] - b * sine[p];
      out_im[p] = a * sine[p] + b * cosine[p];
    }
  }
}

} // namespace

extern "C" void rotary(void* const* buffers, const int64_t* sizes) {
  const int64_t t = sizes[0], heads = sizes[1], d = sizes[2];
  const auto* x = static_cast<const float*>(buffers[0]);
  auto* y = static_cast<float*>(buffers[1]);
  rotations step(d), now(d);
  step.compute(1);
  for (int64_t position = 0; position < t; ++position) {
    if (position % BLOCK == 0) {
      now.compute(position);
    } else {
      rotate(now.cosine.data(), now.sine.data(), step, d, now.cosine.data(), now.sine.data());
    }
    for (int64_t h = 0; h < heads; ++h, x += 2 * d, y += 2 * d) {
      rotate(x, x + d, now, d, y, y + d);
    }
  }
}

extern "C" void rotary_reference(void* const* buffers, const int64_t* sizes) {
  const int64_t t = sizes[0], heads = sizes[1], d = sizes[2];
  const auto* x = static_cast<const float*>(buffers[0]);
  auto* y = static_cast<float*>(buffers[1]);
  for (int64_t row = 0; row < t * heads; ++row, x += 2 * d, y += 2 * d) {
    for (int64_t p = 0; p < d; ++p) {
      const double angle = static_cast<double>(row / heads) * frequency(p, d);
      y[p] = static_cast<float>(x[p] * std::cos(angle) - x[p + d] * std::sin(angle));
      y[p + d] = static_cast<float>(x[p] * std::sin(angle) + x[p + d] * std::cos(angle));
    }
  }
}
