#include "runtime/process/worker/trial_compare.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <cstring>

namespace hearth::worker {
namespace {

// The shortest text that reads back as the same number.
template <class T>
std::string text_of(T number) {
  char text[64];
  std::to_chars_result written;
  if constexpr (std::floating_point<T>)
    written = std::to_chars(text, text + sizeof text, number, std::chars_format::general);
  else
    written = std::to_chars(text, text + sizeof text, number);
  return {text, written.ptr};
}

template <std::floating_point T>
bool is_close(T got, T expected, double tolerance) {
  if (std::isnan(expected)) return std::isnan(got);
  if (std::isinf(expected) || std::isinf(got)) return got == expected;
  const double wanted = expected;
  return std::abs(got - wanted) <= tolerance * std::max(1.0, std::abs(wanted));
}

template <std::integral T>
bool is_close(T got, T expected, double tolerance) {
  if (tolerance < 1) return got == expected;
  // The difference of two 64-bit integers needs 65 bits, so the smaller is subtracted from the
  // larger, unsigned.
  const auto [low, high] = std::minmax(got, expected);
  const auto apart = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
  const auto wanted = static_cast<long double>(expected);
  return static_cast<long double>(apart) <= tolerance * std::max(1.0L, std::abs(wanted));
}

template <class T>
T element_at(std::span<const std::byte> memory, std::size_t index) {
  T element;
  std::memcpy(&element, memory.data() + index * sizeof element, sizeof element);
  return element;
}

// "[3, 5]": the place of an element in its row-major shape.
std::string place(std::size_t flat, const std::vector<std::int64_t>& shape) {
  std::string text;
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    const auto extent = static_cast<std::size_t>(shape[axis]);
    text = std::to_string(flat % extent) + (text.empty() ? "" : ", ") + text;
    flat /= extent;
  }
  return "[" + (text.empty() ? "0" : text) + "]";
}

template <class T>
std::string difference_of(std::span<const std::byte> got, std::span<const std::byte> expected,
                          const trial_buffer& buffer, std::size_t index, double tolerance) {
  const auto count = std::min(got.size(), expected.size()) / sizeof(T);
  for (std::size_t at = 0; at < count; ++at) {
    const auto is = element_at<T>(got, at);
    const auto wanted = element_at<T>(expected, at);
    if (!is_close(is, wanted, tolerance))
      return "output " + std::to_string(index) + " " + place(at, buffer.shape) + " is " +
             text_of(is) + ", expected " + text_of(wanted) + " (tolerance " + text_of(tolerance) +
             ")";
  }
  return {};
}

} // namespace

std::string difference(std::span<const std::byte> got, std::span<const std::byte> expected,
                       const trial_buffer& buffer, std::size_t index, double tolerance) {
  switch (buffer.type) {
  case element_type::f32: return difference_of<float>(got, expected, buffer, index, tolerance);
  case element_type::f64: return difference_of<double>(got, expected, buffer, index, tolerance);
  case element_type::i32:
    return difference_of<std::int32_t>(got, expected, buffer, index, tolerance);
  case element_type::i64:
    return difference_of<std::int64_t>(got, expected, buffer, index, tolerance);
  case element_type::u8:
    return difference_of<std::uint8_t>(got, expected, buffer, index, tolerance);
  }
  return {};
}

} // namespace hearth::worker
