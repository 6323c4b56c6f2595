#pragma once

// Fixed-width vectors for the kernels of this folder: loads and stores, horizontal sums, exp.
//
// Only the vector extensions that GCC and Clang share are used, so a kernel compiles for any CPU;
// a vector wider than the CPU's registers is split by the compiler. Vectors are passed only between
// functions of one source, so that the ABI of such calls, which -Wpsabi warns about, is no concern.

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#pragma GCC diagnostic ignored "-Wpsabi"

#define VEC_INLINE [[gnu::always_inline]] inline

namespace vec {

template <typename T, int Lanes>
struct vector_of {
  using type __attribute__((vector_size(sizeof(T) * Lanes))) = T;
};

/// `Lanes` (a power of two) values of type T. Operators work lane by lane, also with a scalar.
template <typename T, int Lanes>
using vector = typename vector_of<T, Lanes>::type;

template <typename V>
struct element_of {
  using type = std::remove_cvref_t<decltype(std::declval<V&>()[0])>;
};
template <>
struct element_of<float> {
  using type = float;
};

/// The element type of a vector; a float counts as a vector of one, for the code of tails.
template <typename V>
using element = typename element_of<V>::type;

template <typename V>
constexpr int lanes = sizeof(V) / sizeof(element<V>);

/// Calls body(integral_constant<int, 0>{}), ..., so that arrays of vectors that the body indexes
/// live in registers: every index is a constant from the first pass of the optimiser on.
template <int Count, typename Body>
VEC_INLINE void unroll(Body body) {
  [&]<int... I>(std::integer_sequence<int, I...>) { (body(std::integral_constant<int, I>{}), ...); }
  (std::make_integer_sequence<int, Count>{});
}

/// Reads lanes<V> values from an address of any alignment.
template <typename V>
VEC_INLINE V load(const element<V>* from) {
  V value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

/// Writes lanes<V> values to an address of any alignment.
template <typename V>
VEC_INLINE void store(element<V>* to, V value) {
  std::memcpy(to, &value, sizeof value);
}

template <typename V>
VEC_INLINE V broadcast(element<V> value) {
  return value - V{};
}

template <typename V>
VEC_INLINE V max(V a, V b) {
  return a > b ? a : b;
}

template <typename V>
VEC_INLINE V min(V a, V b) {
  return a < b ? a : b;
}

/// The sum of all lanes, added pairwise.
template <typename V>
VEC_INLINE element<V> sum(V value) {
  for (int half = lanes<V> / 2; half > 0; half /= 2) {
    for (int i = 0; i < half; ++i)
      value[i] += value[i + half];
  }
  return value[0];
}

/// The greatest of all lanes.
template <typename V>
VEC_INLINE element<V> largest(V value) {
  element<V> best = value[0];
  for (int i = 1; i < lanes<V>; ++i)
    best = value[i] > best ? value[i] : best;
  return best;
}

/// e^x lane by lane, relative error below 3e-7; x is clamped to where the result is a normal float.
///
/// x = n ln 2 + r with |r| <= ln 2 / 2: e^r is a polynomial (Cephes' coefficients), and 2^n is
/// made by writing n into the exponent bits. Adding and taking away 1.5 * 2^23 rounds to integer.
template <typename V>
VEC_INLINE V exp(V x) {
  using ints = vector<int32_t, lanes<V>>;
  constexpr float round_magic = 12582912.0f;
  x = min(max(x, broadcast<V>(-87.3f)), broadcast<V>(88.0f));
  const V shifted = x * 1.44269504f + round_magic;
  const V n = shifted - round_magic;
  const V r = x - n * 0.693359375f + n * 2.12194440e-4f;
  V p = broadcast<V>(1.9875691500e-4f);
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * r * r + r + 1.0f;
  const ints exponent = (__builtin_convertvector(n, ints) + 127) << 23;
  return p * std::bit_cast<V>(exponent);
}

} // namespace vec
