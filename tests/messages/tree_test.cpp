#include "messages/tree.hpp"

#include <doctest/doctest.h>

namespace tree_test {

using namespace hearth;

TEST_CASE("a path is a JSON pointer and back") {
  for (const tree_path& path : {tree_path{}, tree_path{"a"}, tree_path{"a/b", "~", "", "~1"}}) {
    const auto back = parse_pointer(to_pointer(path));
    REQUIRE(back);
    CHECK(*back == path);
  }
  CHECK(to_pointer(tree_path{"m/n", "a~b"}) == "/m~1n/a~0b");
  CHECK(parse_pointer("/")->size() == 1);
}

TEST_CASE("a malformed pointer is an error") {
  for (const auto* bad : {"a", "a/b", "/~", "/~2", "/a~"})
    CHECK(parse_pointer(bad).error().code() == errc::malformed);
  std::string deep;
  for (std::size_t i = 0; i < max_path_parts; ++i)
    deep += "/x";
  CHECK(parse_pointer(deep));
  CHECK(parse_pointer(deep + "/x").error().code() == errc::too_large);
}

TEST_CASE("a value set at a path is found there and in the maps above") {
  value tree = value::map{};
  REQUIRE(set_at(tree, tree_path{"gemm", "64x64", "time"}, 5));
  REQUIRE(set_at(tree, tree_path{"gemm", "32x32"}, "fast"));
  CHECK(*find_at(tree, tree_path{"gemm", "64x64", "time"}) == value(5));
  CHECK(find_at(tree, tree_path{"gemm"})->find("32x32") != nullptr);
  CHECK(find_at(tree, tree_path{"gemm", "64x64"})->as<value::map>()->size() == 1);
  CHECK(find_at(tree, tree_path{"conv"}) == nullptr);
  CHECK(find_at(tree, tree_path{"gemm", "32x32", "deeper"}) == nullptr);
  CHECK(find_at(tree, {}) == &tree);
  REQUIRE(set_at(tree, tree_path{"gemm"}, "gone"));
  CHECK(*find_at(tree, tree_path{"gemm"}) == value("gone"));
}

TEST_CASE("a path through a value is refused and changes nothing") {
  value tree = value::map{};
  REQUIRE(set_at(tree, tree_path{"a"}, 1));
  const auto before = tree;
  CHECK(set_at(tree, tree_path{"a", "b", "c"}, 2).error().text().find("'/a' holds a value") == 0);
  CHECK(set_at(tree, {}, 3).error().code() == errc::invalid_argument);
  CHECK(tree == before);
}

} // namespace tree_test
