#include "runtime/process/worker/trial_compare.hpp"

#include <cmath>
#include <doctest/doctest.h>
#include <limits>
#include <vector>

namespace trial_compare_test {

using namespace hearth;
using hearth::worker::difference;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();

template <class T>
std::string compare(element_type type, std::vector<T> got, std::vector<T> expected,
                    double tolerance, std::vector<std::int64_t> shape = {}) {
  if (shape.empty()) shape = {static_cast<std::int64_t>(got.size())};
  return difference(std::as_bytes(std::span(got)), std::as_bytes(std::span(expected)),
                    {type, shape, true}, 2, tolerance);
}

bool same(double got, double expected, double tolerance) {
  return compare<double>(element_type::f64, {got}, {expected}, tolerance).empty();
}

bool same(std::int64_t got, std::int64_t expected, double tolerance) {
  return compare<std::int64_t>(element_type::i64, {got}, {expected}, tolerance).empty();
}

} // namespace

TEST_CASE("the first difference is reported with its place and both numbers") {
  std::vector<float> expected(20, 1.25F);
  auto got = expected;
  CHECK(compare<float>(element_type::f32, got, expected, 1e-4) == "");
  got[17] = 1.5F;
  got[19] = 9;
  CHECK(compare<float>(element_type::f32, got, expected, 1e-4) ==
        "output 2 [17] is 1.5, expected 1.25 (tolerance 0.0001)");
  CHECK(compare<float>(element_type::f32, got, expected, 1e-4, {2, 5, 2}) ==
        "output 2 [1, 3, 1] is 1.5, expected 1.25 (tolerance 0.0001)");
}

TEST_CASE("each type is written in its own form") {
  CHECK(compare<std::uint8_t>(element_type::u8, {200}, {65}, 0) ==
        "output 2 [0] is 200, expected 65 (tolerance 0)");
  CHECK(compare<std::int32_t>(element_type::i32, {-5}, {5}, 0) ==
        "output 2 [0] is -5, expected 5 (tolerance 0)");
  CHECK(compare<std::int64_t>(element_type::i64, {INT64_MIN}, {1}, 0) ==
        "output 2 [0] is -9223372036854775808, expected 1 (tolerance 0)");
  CHECK(compare<double>(element_type::f64, {0.1}, {nan_value}, 0) ==
        "output 2 [0] is 0.1, expected nan (tolerance 0)");
}

TEST_CASE("the tolerance is absolute below one and relative above") {
  CHECK(same(0.25, 0.0, 0.25));
  CHECK_FALSE(same(0.26, 0.0, 0.25));
  CHECK(same(-0.25, 0.0, 0.25));
  CHECK(same(150.0, 100.0, 0.5));
  CHECK_FALSE(same(151.0, 100.0, 0.5));
  CHECK(same(-150.0, -100.0, 0.5));
  CHECK_FALSE(same(-100.0, 100.0, 0.5));
  CHECK(same(0.0, -0.0, 0.0));
}

TEST_CASE("a number that is not finite equals only itself for any tolerance") {
  CHECK(same(nan_value, -nan_value, 0.0));
  CHECK_FALSE(same(nan_value, 1.0, 1e9));
  CHECK_FALSE(same(1.0, nan_value, 1e9));
  CHECK(same(infinity, infinity, 0.0));
  CHECK_FALSE(same(infinity, -infinity, 1e9));
  CHECK_FALSE(same(1.0, infinity, 1e9));
  CHECK_FALSE(same(infinity, 1.0, 1e9));
  CHECK_FALSE(same(nan_value, infinity, 1e9));
}

TEST_CASE("integers are exact below a tolerance of one") {
  CHECK(same(std::int64_t{1'000'000}, std::int64_t{1'000'000}, 0.999));
  CHECK_FALSE(same(std::int64_t{1'000'001}, std::int64_t{1'000'000}, 0.999));
  CHECK(same(std::int64_t{3}, std::int64_t{2}, 1.0));
  CHECK(same(std::int64_t{-4}, std::int64_t{-2}, 1.0));
  CHECK_FALSE(same(std::int64_t{5}, std::int64_t{2}, 1.0));
  CHECK_FALSE(same(INT64_MIN, INT64_MAX, 1.0));
  CHECK(same(INT64_MIN, INT64_MAX, 3.0));
  CHECK_FALSE(same(INT64_MAX, std::int64_t{0}, 1.0));
}

} // namespace trial_compare_test
