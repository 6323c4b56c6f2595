// y[n] = x[n] + 1 with a deliberate fault, which FAULT selects.
//
// FAULT  0: none; 1: does not compile; 2: crashes; 3: never ends; 4: a wrong result in the last
//        element

#include <cstdint>

#if FAULT == 1
#error "this config does not compile, on purpose"
#endif

extern "C" void faulty(void* const* buffers, const int64_t* sizes) {
  const auto* x = static_cast<const int64_t*>(buffers[0]);
  auto* y = static_cast<int64_t*>(buffers[1]);
#if FAULT == 2
  volatile int64_t* volatile nowhere = nullptr;
  *nowhere = 1;
#elif FAULT == 3
  volatile bool forever = true;
  while (forever) {
  }
#endif
  for (int64_t i = 0; i < sizes[0]; ++i)
    y[i] = x[i] + 1;
#if FAULT == 4
  y[sizes[0] - 1] += 1;
#endif
}

extern "C" void faulty_reference(void* const* buffers, const int64_t* sizes) {
  const auto* x = static_cast<const int64_t*>(buffers[0]);
  auto* y = static_cast<int64_t*>(buffers[1]);
  for (int64_t i = 0; i < sizes[0]; ++i)
    y[i] = x[i] + 1;
}
