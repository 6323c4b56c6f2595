#include "messages/explain.hpp"

#include "messages/key_builder.hpp"

#include <doctest/doctest.h>
#include <random>

namespace explain_test {

using namespace hearth;

namespace {

std::vector<std::string> lines(const key_field& a, const key_field& b) {
  std::vector<std::string> result;
  for (const auto& one : explain(a, b))
    result.push_back(one.line());
  return result;
}

using expected_lines = std::vector<std::string>;

tensor_field tensor(std::int64_t rows) {
  tensor_field t;
  t.dtype = "f32";
  t.shape = {rows, std::string("s0")};
  t.strides = {std::string("s0"), std::int64_t{1}};
  return t;
}

// Makes a field for this number; the numbers go through the kinds in turn.
key_field field_of(int i, int variant) {
  const auto text = "v" + std::to_string(i) + "." + std::to_string(variant);
  switch (i % 9) {
  case 0: return text;
  case 1: return i + variant;
  case 2: return i + 0.5 * variant;
  case 3: return key_field::list{i, text, key_field::list{i}};
  case 4: return key_field::set_of({i, text});
  case 5: return key_field::map{{"x", i}, {"y", key_field::map{{"z", text}}}};
  case 6: return tensor(i + variant);
  case 7: return constant_field{tensor(i), sha256(text), 4};
  default: return *key_field::source("def f():\n  return " + text);
  }
}

} // namespace

TEST_CASE("a single changed field of 200 is named and nothing else") {
  key_field::map fields;
  for (int i = 0; i < 200; ++i)
    fields["field" + std::to_string(i)] = field_of(i, 0);
  for (int i = 0; i < 200; ++i) {
    CAPTURE(i);
    auto other = fields;
    const auto name = "field" + std::to_string(i);
    other[name] = field_of(i, 1);
    const auto found = explain(fields, other);
    REQUIRE_FALSE(found.empty());
    for (const auto& one : found) {
      const auto rest =
          one.path.substr(0, name.size()) == name ? one.path.substr(name.size()) : "?";
      CHECK_MESSAGE((rest.empty() || rest[0] == '.' || rest[0] == '['), one.path);
    }
    other.erase(name);
    const auto dropped = explain(fields, other);
    REQUIRE(dropped.size() == 1);
    CHECK(dropped[0].path == name);
    CHECK(dropped[0].kind == difference_kind::only_first);
  }
}

TEST_CASE("the smallest part that differs is named by its path") {
  CHECK(lines(key_field::map{{"a", tensor(2)}}, key_field::map{{"a", tensor(3)}}) ==
        expected_lines{"a.shape[0]: 2 -> 3"});
  CHECK(lines(key_field::map{{"a b", key_field::map{{"c", 1}}}},
              key_field::map{{"a b", key_field::map{{"c", "1"}}}}) ==
        expected_lines{"[\"a b\"].c: 1 -> \"1\""});
  CHECK(lines(key_field::map{{"s", key_field::set_of({1, 2})}},
              key_field::map{{"s", key_field::set_of({2, 3})}}) ==
        expected_lines{"s: only in the first: 1", "s: only in the second: 3"});
  CHECK(lines(key_field::map{}, key_field::map{{"new", true}}) ==
        expected_lines{"new: only in the second: true"});
  CHECK(lines(key_field::map{{"x", 0.0}}, key_field::map{{"x", -0.0}}) ==
        expected_lines{"x: 0.0 -> -0.0"});
}

TEST_CASE("items of lists are matched so that the rest does not differ") {
  const auto of = [](key_field::list items) { return key_field::map{{"l", std::move(items)}}; };
  CHECK(lines(of({1, 2, 3}), of({0, 1, 2, 3})) == expected_lines{"l[0]: only in the second: 0"});
  CHECK(lines(of({1, 2, 3, 4}), of({1, 4})) ==
        expected_lines{"l[1]: only in the first: 2", "l[2]: only in the first: 3"});
  CHECK(lines(of({1, 2, 3, 4}), of({2, 3, 4, 1})) == expected_lines{"l[0]: moved to l[3]: 1"});
  CHECK(lines(of({1, 2, 3}), of({1, 9, 3})) == expected_lines{"l[1]: 2 -> 9"});
  CHECK(lines(of({1, 1, 1}), of({1, 1})) == expected_lines{"l[2]: only in the first: 1"});
  CHECK(lines(of({key_field::list{1, 2}}), of({key_field::list{1, 3}})) ==
        expected_lines{"l[0][1]: 2 -> 3"});
}

TEST_CASE("for long text the line that differs is shown") {
  std::string text = "first line\n" + std::string(100, 'x') + "\n";
  const auto a = key_field::map{{"code", *key_field::source(text + "tile = 16\nend")}};
  const auto b = key_field::map{{"code", *key_field::source(text + "tile = 32\nend")}};
  CHECK(lines(a, b) == expected_lines{"code.text: line 3: \"tile = 16\" -> line 3: \"tile = 32\""});
  const auto c = key_field::map{{"t", std::string(100, 'x') + "a"}};
  const auto d = key_field::map{{"t", std::string(100, 'x') + "b"}};
  CHECK(lines(c, d) == expected_lines{"t: ...\"" + std::string(30, 'x') + "a\" -> ...\"" +
                                      std::string(30, 'x') + "b\""});
}

TEST_CASE("explanations are empty only for equal details and never longer than asked") {
  std::mt19937 random(17);
  for (int round = 0; round < 300; ++round) {
    key_field::list a, b;
    for (int i = 0; i < 12; ++i) {
      a.push_back(static_cast<std::int64_t>(random() % 6));
      b.push_back(static_cast<std::int64_t>(random() % 6));
    }
    b.resize(random() % 13);
    CHECK(explain(a, b).empty() == (key_field(a) == key_field(b)));
    CHECK(explain(a, b, 2).size() <= 2);
  }
}

} // namespace explain_test
