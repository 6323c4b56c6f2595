// Caches of C++ values.
#include "runtime/handle/typed_cache.hpp"
#include "tests/support/runtimes.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <map>
#include <tuple>

namespace typed_cache_test {

using namespace hearth;
using namespace hearth::test;

namespace example {

struct tuning {
  int tile = 0;
  double ms = 0;
  std::vector<std::string> flags;
  MSGPACK_DEFINE(tile, ms, flags)
  friend bool operator==(const tuning&, const tuning&) = default;
};

struct shape {
  std::string kernel;
  std::int64_t m = 0;
  MSGPACK_DEFINE(kernel, m)
};

} // namespace example

namespace {

struct fixture {
  runtime rt{in_memory()};
  cache under = rt.open("tunings").value();
};

using value_cache = typed_cache<key, value>;

} // namespace

TEST_CASE_FIXTURE(fixture, "a typed cache keeps values of a type that defines its packing") {
  const typed_cache<example::shape, example::tuning> tunings(under);
  const example::shape matmul{"matmul", 256};
  CHECK_FALSE(tunings.get(matmul)->has_value());
  CHECK(*tunings.insert(matmul, {32, 1.5, {"-O3"}}) == insert_outcome::inserted);
  CHECK(*tunings.insert(matmul, {64, 2.5, {}}) == insert_outcome::exists);
  CHECK(**tunings.get(matmul) == example::tuning{32, 1.5, {"-O3"}});
  CHECK(tunings.put(matmul, {64, 2.5, {}}));
  CHECK(tunings.get_async(matmul).get()->value() == example::tuning{64, 2.5, {}});
  CHECK(*tunings.erase(matmul));
  CHECK_FALSE(tunings.get_async(matmul).get()->has_value());
  CHECK(*tunings.insert_async(matmul, {}).get() == insert_outcome::inserted);
  // A struct is packed as a tuple: the same key, written by hand.
  CHECK(under.get(key::tuple({"matmul", key::integer(256)}))->hit());
}

TEST_CASE_FIXTURE(fixture, "a typed cache compiles a missing value once") {
  const typed_cache<std::string, int> lengths(under);
  int compiles = 0;
  for (int i = 0; i < 2; ++i)
    CHECK(lengths.get_or_compile("four", [&]() -> expected<int> {
      ++compiles;
      return 4;
    }) == 4);
  CHECK(compiles == 1);
  const auto failed = lengths.get_or_compile(
      "bad", []() -> expected<int> { return fail(errc::compile_failed, "no"); });
  CHECK(failed.error().text() == "no");
}

TEST_CASE_FIXTURE(fixture,
                  "a stored value of another type is an error that names cache key and type") {
  CHECK(under.insert("k", artifact::make("\xa4text")));
  const typed_cache<std::string, example::tuning> tunings(under);
  const auto wrong = tunings.get("k");
  REQUIRE_FALSE(wrong);
  CHECK(wrong.error().code() == errc::malformed);
  CHECK(wrong.error().text() ==
        "cache 'tunings', key \"k\": what is stored is no 'typed_cache_test::example::tuning' (it "
        "has other parts); put it anew, or give the cache another version");
  CHECK_FALSE(tunings.get_or_compile("k", [] { return example::tuning{}; }));
  CHECK(tunings.put("k", {}));
  CHECK(tunings.get("k")->has_value());
}

TEST_CASE_FIXTURE(fixture, "hostile bytes are an error and their lengths are not trusted") {
  const typed_cache<std::string, std::vector<int>> lists(under);
  const std::string cases[] = {
      "",         "\xdd\xff\xff\xff\xff",           "\xc6\xff\xff\xff\xff", "\xc1", "\x91",
      "\x90\x90", std::string(200, '\x91') + '\x01'};
  for (const auto& bytes : cases) {
    CHECK(under.put("k", artifact::make(bytes)));
    const auto got = lists.get("k");
    REQUIRE_FALSE(got);
    CHECK(got.error().code() == errc::malformed);
  }
}

TEST_CASE_FIXTURE(fixture, "keys are str, int, bin and tuples of keys, and nothing else") {
  const typed_cache<std::tuple<std::string, std::int64_t, std::tuple<int>>, int> tuples(under);
  CHECK(tuples.insert({"a", -1, {7}}, 1));
  CHECK(under.get(key::tuple({"a", key::integer(-1), key::tuple({key::integer(7)})}))->hit());
  const typed_cache<std::vector<char>, int> bytes(under);
  CHECK(bytes.insert({'a', 'b'}, 1));
  CHECK(under.get(key::bytes("ab"))->hit());

  const typed_cache<double, int> reals(under);
  CHECK(reals.insert(0.5, 1).error().code() == errc::invalid_key);
  const typed_cache<bool, int> bools(under);
  CHECK(bools.get(true).error().code() == errc::invalid_key);
  const typed_cache<std::map<std::string, int>, int> maps(under);
  CHECK(maps.put({{"a", 1}}, 1).error().code() == errc::invalid_key);
  const typed_cache<std::optional<int>, int> nils(under);
  CHECK(nils.erase(std::nullopt).error().code() == errc::invalid_key);
}

TEST_CASE_FIXTURE(fixture, "integers outside 64 bits are an error as key and as value") {
  const typed_cache<std::uint64_t, int> by_number(under);
  CHECK(by_number.insert(std::uint64_t{1} << 62, 1));
  CHECK(by_number.insert(~std::uint64_t{0}, 1).error().code() == errc::invalid_key);
  CHECK(
      under.insert("big", artifact::make(std::string("\xcf\xff\xff\xff\xff\xff\xff\xff\xff", 9))));
  const value_cache values(under);
  const auto big = values.get("big");
  REQUIRE_FALSE(big);
  CHECK(big.error().text().find("above 2^63 - 1") != std::string::npos);
  const typed_cache<std::string, std::int64_t> narrow(under);
  CHECK_FALSE(narrow.get("big"));
}

TEST_CASE_FIXTURE(fixture, "values of every kind are read back") {
  const value_cache values(under);
  const value kinds[] = {value{"text"},
                         value{-5},
                         value{std::numeric_limits<std::int64_t>::min()},
                         value{binary{std::string("\0\xff", 2)}},
                         value{value::array{1, "two", value::array{}}},
                         value{value::map{{"a", value::map{}}, {"b", {}}}},
                         value{}};
  for (std::int64_t i = 0; i < std::int64_t(std::size(kinds)); ++i) {
    CHECK(values.insert(key::integer(i), kinds[i]));
    CHECK(**values.get(key::integer(i)) == kinds[i]);
  }
}

TEST_CASE_FIXTURE(fixture, "a miss is no error and a stored nil is a hit") {
  const value_cache values(under);
  const auto miss = values.get("k");
  REQUIRE(miss);
  CHECK_FALSE(miss->has_value());
  CHECK(*values.insert("k", value{}) == insert_outcome::inserted);
  const auto nil = values.get("k");
  REQUIRE(nil->has_value());
  CHECK((*nil)->is_nil());
  CHECK(*values.insert("k", value{1}) == insert_outcome::exists);
  const typed_cache<std::string, std::optional<int>> maybe(under);
  CHECK(maybe.get("k")->has_value());
  CHECK_FALSE(maybe.get("k")->value().has_value());
}

TEST_CASE("every error has a category, a name and its text with context") {
  for (int code = int(errc::invalid_argument); code <= int(errc::internal); ++code) {
    CHECK(to_string(errc(code)) != "");
    CHECK(to_string(category_of(errc(code))) != "");
  }
  const auto why = error{errc::malformed, "cut short"}.within("metadata").within("cache 'c'");
  CHECK(why.to_string() == "malformed: cache 'c': metadata: cut short");
  CHECK(why.category() == error_category::input);
}

} // namespace typed_cache_test
