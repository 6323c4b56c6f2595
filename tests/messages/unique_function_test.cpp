#include "messages/unique_function.hpp"

#include <doctest/doctest.h>

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace unique_function_test {

using hearth::unique_function;

namespace {

// Counts the objects that live.
struct counted {
  explicit counted(int& count)
      : living(&count) {
    ++*living;
  }
  counted(const counted& other)
      : living(other.living) {
    ++*living;
  }
  counted(counted&& other) noexcept
      : living(other.living) {
    ++*living;
  }
  counted& operator=(const counted&) = delete;
  ~counted() { --*living; }
  int* living;
};

int doubled(int number) { return 2 * number; }

} // namespace

TEST_CASE("a unique function calls what it holds, wherever that lies") {
  int living = 0;
  {
    unique_function<int(int)> small = [one = counted(living)](int n) { return n + *one.living; };
    unique_function<int(int)> large = [one = counted(living), room = std::array<char, 200>{}](
                                          int n) { return n + *one.living + room[7]; };
    CHECK(living == 2);
    CHECK(small(1) == 3);
    CHECK(large(1) == 3);
    auto moved = std::move(small);
    auto moved_large = std::move(large);
    CHECK_FALSE(small);
    CHECK_FALSE(large);
    CHECK(living == 2);
    CHECK(moved(2) + moved_large(2) == 8);
    moved = std::move(moved_large);
    CHECK(living == 1);
    CHECK(moved(1) == 2);
    moved = nullptr;
    CHECK(living == 0);
    CHECK_THROWS_AS(moved(1), std::bad_function_call);
  }
  CHECK(living == 0);
}

TEST_CASE("a unique function holds functions, move-only captures and mutable state") {
  CHECK(unique_function<int(int)>(doubled)(21) == 42);
  unique_function<std::string(std::unique_ptr<std::string>)> takes =
      [](std::unique_ptr<std::string> text) { return *text; };
  CHECK(takes(std::make_unique<std::string>("moved in")) == "moved in");
  unique_function<int()> counts = [n = 0]() mutable { return ++n; };
  CHECK(counts() + counts() == 3);
  unique_function<void()> drops = [] { return 7; };
  drops();
  int (*none)(int) = nullptr;
  CHECK_FALSE(unique_function<int(int)>(none));
  CHECK_FALSE(unique_function<int(int)>(std::function<int(int)>()));
  CHECK_FALSE(unique_function<void()>());
}

} // namespace unique_function_test
