#include <cstdint>

extern "C" void twice(void* const* buffers, const std::int64_t* sizes) {
  const auto* const in = static_cast<const float*>(buffers[0]);
  auto* const out = static_cast<float*>(buffers[1]);
  for (std::int64_t i = 0; i < sizes[0]; i += STEP)
    out[i] = 2 * in[i];
}
