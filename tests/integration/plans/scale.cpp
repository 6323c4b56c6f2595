// y[n] = x[n] * 2.5, UNROLL elements a step. Guard 0: n is a multiple of 8. Guard 1: any size.

#include "shared.hpp"

#include <cstdint>

extern "C" void scale(void* const* buffers, const int64_t* sizes) {
  const auto* x = static_cast<const float*>(buffers[0]);
  auto* y = static_cast<float*>(buffers[1]);
  int64_t i = 0;
  for (; i + UNROLL <= sizes[0]; i += UNROLL) {
    for (int64_t j = i; j < i + UNROLL; ++j)
      y[j] = x[j] * scale_factor;
  }
  if constexpr (HEARTH_GUARD != 0) {
    for (; i < sizes[0]; ++i)
      y[i] = x[i] * scale_factor;
  }
}

extern "C" void scale_reference(void* const* buffers, const int64_t* sizes) {
  const auto* x = static_cast<const float*>(buffers[0]);
  auto* y = static_cast<float*>(buffers[1]);
  for (int64_t i = 0; i < sizes[0]; ++i)
    y[i] = x[i] * scale_factor;
}
