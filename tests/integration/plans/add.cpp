// c[m][n] = a[m][n] + b[n], UNROLL rows a step. Guard 0: m is a multiple of 4. Guard 1: any size.

#include <cstdint>

namespace {

void add_row(const int32_t* a, const int32_t* b, int32_t* c, int64_t n) {
  for (int64_t j = 0; j < n; ++j)
    c[j] = a[j] + b[j];
}

} // namespace

extern "C" void add(void* const* buffers, const int64_t* sizes) {
  const int64_t m = sizes[0], n = sizes[1];
  const auto* a = static_cast<const int32_t*>(buffers[0]);
  const auto* b = static_cast<const int32_t*>(buffers[1]);
  auto* c = static_cast<int32_t*>(buffers[2]);
  int64_t i = 0;
  for (; i + UNROLL <= m; i += UNROLL) {
    for (int64_t row = i; row < i + UNROLL; ++row)
      add_row(a + row * n, b, c + row * n, n);
  }
  if constexpr (HEARTH_GUARD != 0) {
    for (; i < m; ++i)
      add_row(a + i * n, b, c + i * n, n);
  }
}

extern "C" void add_reference(void* const* buffers, const int64_t* sizes) {
  const int64_t m = sizes[0], n = sizes[1];
  const auto* a = static_cast<const int32_t*>(buffers[0]);
  const auto* b = static_cast<const int32_t*>(buffers[1]);
  auto* c = static_cast<int32_t*>(buffers[2]);
  for (int64_t i = 0; i < m; ++i)
    add_row(a + i * n, b, c + i * n, n);
}
