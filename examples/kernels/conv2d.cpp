// Convolution with 3 x 3 filters, no padding:
// output[o][h - 2][w - 2] = sum over c, dy, dx of input[c][h][w] * filter[o][c][dy][dx].
//
// The trick: TILE output channels by UNROLL vectors of neighbouring pixels stay in registers over
// all input channels, so each loaded pixel serves TILE channels and each weight UNROLL vectors.
//
// TILE    output channels at once
// UNROLL  vectors of pixels at once
// VECTOR  floats in a vector
// Guard 0: o a multiple of 8 and w - 2 of 32, no edges. Guard 1: any size.

#include "vec.hpp"

#include <algorithm>

namespace {

using floats = vec::vector<float, VECTOR>;

constexpr bool has_edges = HEARTH_GUARD != 0;
constexpr int64_t taps = 9;

struct image {
  int64_t channels, height, width;

  int64_t out_height() const { return height - 2; }
  int64_t out_width() const { return width - 2; }
};

/// The outputs at one place of `Channels` planes, `Vectors` vectors wide; `Vector` may be a single
/// float. `input` points at the top left tap of channel 0, `filter` at the first channel's taps.
template <int Channels, int Vectors, typename Vector>
void convolve_tile(const float* input, const float* filter, float* output, const image& shape) {
  constexpr int64_t step = sizeof(Vector) / sizeof(float);
  Vector sums[Channels][Vectors] = {};
  for (int64_t c = 0; c < shape.channels; ++c) {
    for (int64_t tap = 0; tap < taps; ++tap) {
      const float* from = input + (c * shape.height + tap / 3) * shape.width + tap % 3;
      Vector pixels[Vectors];
      vec::unroll<Vectors>([&](auto v) { pixels[v] = vec::load<Vector>(from + v * step); });
      vec::unroll<Channels>([&](auto o) {
        const float weight = filter[(o * shape.channels + c) * taps + tap];
        vec::unroll<Vectors>([&](auto v) { sums[o][v] += weight * pixels[v]; });
      });
    }
  }
  vec::unroll<Channels>([&](auto o) {
    float* to = output + o * shape.out_height() * shape.out_width();
    vec::unroll<Vectors>([&](auto v) { vec::store(to + v * step, sums[o][v]); });
  });
}

/// All outputs of `Channels` planes.
template <int Channels>
void convolve_planes(const float* input, const float* filter, float* output, const image& shape) {
  for (int64_t y = 0; y < shape.out_height(); ++y) {
    const float* row = input + y * shape.width;
    float* out_row = output + y * shape.out_width();
    int64_t x = 0;
    for (; x + UNROLL * VECTOR <= shape.out_width(); x += UNROLL * VECTOR) {
      convolve_tile<Channels, UNROLL, floats>(row + x, filter, out_row + x, shape);
    }
    if constexpr (has_edges) {
      for (; x < shape.out_width(); ++x) {
        convolve_tile<Channels, 1, float>(row + x, filter, out_row + x, shape);
      }
    }
  }
}

} // namespace

extern "C" void conv2d(void* const* buffers, const int64_t* sizes) {
  const int64_t outputs = sizes[1];
  const image shape{.channels = sizes[0], .height = sizes[2], .width = sizes[3]};
  const auto* input = static_cast<const float*>(buffers[0]);
  const auto* filter = static_cast<const float*>(buffers[1]);
  auto* output = static_cast<float*>(buffers[2]);
  const int64_t plane = shape.out_height() * shape.out_width();
  const int64_t weights = shape.channels * taps;
  int64_t o = 0;
  for (; o + TILE <= outputs; o += TILE) {
    convolve_planes<TILE>(input, filter + o * weights, output + o * plane, shape);
  }
  if constexpr (has_edges) {
    for (; o < outputs; ++o) {
      convolve_planes<1>(input, filter + o * weights, output + o * plane, shape);
    }
  }
}

extern "C" void conv2d_reference(void* const* buffers, const int64_t* sizes) {
  const int64_t channels = sizes[0], outputs = sizes[1], height = sizes[2], width = sizes[3];
  const auto* input = static_cast<const float*>(buffers[0]);
  const auto* filter = static_cast<const float*>(buffers[1]);
  auto* output = static_cast<float*>(buffers[2]);
  for (int64_t o = 0; o < outputs; ++o) {
    for (int64_t y = 0; y < height - 2; ++y) {
      for (int64_t x = 0; x < width - 2; ++x) {
        double sum = 0;
        for (int64_t c = 0; c < channels; ++c) {
          for (int64_t tap = 0; tap < taps; ++tap) {
            sum += double{input[(c * height + y + tap / 3) * width + x + tap % 3]} *
                   filter[(o * channels + c) * taps + tap];
          }
        }
        *output++ = static_cast<float>(sum);
      }
    }
  }
}
