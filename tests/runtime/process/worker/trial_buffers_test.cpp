#include "runtime/process/worker/trial_buffers.hpp"

#include <algorithm>
#include <cstring>
#include <doctest/doctest.h>

namespace trial_buffers_test {

using namespace hearth;
using namespace hearth::worker;

namespace {

template <class T>
std::vector<T> filled(element_type type, std::uint64_t seed, std::size_t buffer,
                      std::size_t count) {
  std::vector<T> elements(count);
  fill_input(std::as_writable_bytes(std::span(elements)), type, seed, buffer);
  return elements;
}

template <class T>
bool within(const std::vector<T>& all, T low, T below) {
  return std::ranges::all_of(all, [&](T one) { return one >= low && one < below; });
}

} // namespace

TEST_CASE("inputs are the same on every machine") {
  // Computed from the definition by another program.
  CHECK(filled<std::uint8_t>(element_type::u8, 7, 0, 8) ==
        std::vector<std::uint8_t>{189, 1, 154, 180, 213, 10, 211, 11});
  CHECK(filled<std::int64_t>(element_type::i64, 7, 3, 4) ==
        std::vector<std::int64_t>{154, 116, 44, 52});
  CHECK(filled<float>(element_type::f32, 7, 1, 3) ==
        std::vector<float>{0x1.cb14c00000000p-3F, -0x1.0a8b980000000p-2F, 0x1.02f5800000000p-2F});
  CHECK(filled<double>(element_type::f64, UINT64_MAX, 2, 3) ==
        std::vector<double>{0x1.ad5df5f0be34ep-1, -0x1.5110bd1b5c51ep-1, -0x1.fb16513ca6054p-2});
}

TEST_CASE("inputs are within their range and spread over it") {
  const auto reals = filled<float>(element_type::f32, 1, 0, 10'000);
  CHECK(within(reals, -1.0F, 1.0F));
  CHECK(*std::ranges::min_element(reals) < -0.99F);
  CHECK(*std::ranges::max_element(reals) > 0.99F);
  CHECK(within(filled<double>(element_type::f64, 1, 0, 10'000), -1.0, 1.0));
  const auto integers = filled<std::int32_t>(element_type::i32, 1, 0, 10'000);
  CHECK(within(integers, 0, 256));
  CHECK(std::ranges::count(integers, 0) > 0);
  CHECK(std::ranges::count(integers, 255) > 0);
}

TEST_CASE("inputs differ by seed and by buffer") {
  const auto base = filled<double>(element_type::f64, 1, 0, 10);
  CHECK(base == filled<double>(element_type::f64, 1, 0, 10));
  CHECK(base != filled<double>(element_type::f64, 2, 0, 10));
  CHECK(base != filled<double>(element_type::f64, 1, 1, 10));
}

TEST_CASE("the number of elements is the product of the extents") {
  CHECK(count_elements({}).value() == 1);
  CHECK(count_elements({7}).value() == 7);
  CHECK(count_elements({2, 3, 4}).value() == 24);
  CHECK(count_elements({5, 0, 5}).value() == 0);
  CHECK(count_elements({-1}).error().code() == errc::invalid_argument);
  CHECK(count_elements({INT64_MAX, 4}).error().code() == errc::too_large);
  CHECK(count_elements({1 << 17, 1 << 17}).error().code() == errc::too_large);
  CHECK(count_elements(std::vector<std::int64_t>(17, 1)).error().code() == errc::too_large);
}

TEST_CASE("guarded memory is aligned and zeroed and marks the bytes beside it") {
  for (const std::size_t size : {0, 1, 63, 64, 65, 4096, 65'535, 65'536, 65'537}) {
    const auto memory = guarded_memory::make(size);
    REQUIRE(memory);
    const auto bytes = memory->bytes();
    CHECK(bytes.size() == size);
    CHECK(reinterpret_cast<std::uintptr_t>(bytes.data()) % 64 == 0);
    CHECK(std::ranges::all_of(bytes, [](std::byte b) { return b == std::byte{}; }));
    std::ranges::fill(bytes, std::byte{1});
    CHECK(memory->overrun() == "");
  }
}

TEST_CASE("a write beside guarded memory is seen") {
  const auto memory = guarded_memory::make(100);
  REQUIRE(memory);
  auto* bytes = memory->bytes().data();
  const auto before = bytes[-1];
  bytes[-1] = std::byte{};
  CHECK(memory->overrun() == "in front of");
  bytes[-1] = before;
  CHECK(memory->overrun() == "");
  bytes[127] = std::byte{};
  CHECK(memory->overrun() == "past the end of");
}

TEST_CASE("memory beyond the limit is refused") {
  CHECK(guarded_memory::make(max_trial_bytes + 1).error().code() == errc::too_large);
}

} // namespace trial_buffers_test
