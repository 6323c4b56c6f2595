// What keys were made of, and why one missed, as a library caller asks.
#include "messages/key_builder.hpp"
#include "runtime/caches/facts/key_history.hpp"
#include "runtime/engine/core.hpp"
#include "runtime/handle/internals.hpp"
#include "tests/support/files.hpp"
#include "tests/support/runtimes.hpp"

#include <algorithm>
#include <doctest/doctest.h>

namespace key_history_test {

using namespace hearth;
using namespace hearth::test;

namespace {

// A compile as a host describes it.
struct compile {
  std::string header = "#define TILE 16\n";
  std::string flag = "-O2";
  std::string compiler = "gcc 12.2.0";

  structural_key key() const {
    const file_field content{sha256(header), header.size()};
    return key_builder()
        .add("compiler", key_field::map{{"version", compiler}})
        .add("flags", key_field::list{"-c", flag})
        .add("headers", key_field::map{{"a.h", content}})
        .build()
        .value();
  }
};

using lines = std::vector<std::string>;

// The paths of the differences.
lines paths_of(const key_miss& miss) {
  lines paths;
  for (const auto& one : miss.differences)
    paths.push_back(one.path);
  return paths;
}

} // namespace

TEST_CASE_FIXTURE(on_disk, "a host's key that misses names the header, the flag or the compiler") {
  const compile before;
  {
    runtime rt(settings());
    const auto keys = key_history::open(rt).value();
    CHECK(keys.explain("kernel", before.key().details)->known == 0);
    REQUIRE(keys.note("kernel", before.key().details));
  }
  runtime rt(settings()); // another run
  const auto keys = key_history::open(rt).value();
  const auto why = [&](const compile& now) {
    const auto miss = keys.explain("kernel", now.key().details).value();
    CHECK(miss.known == 1);
    return miss;
  };
  auto other_header = before;
  other_header.header = "#define TILE 32\n";
  CHECK(paths_of(why(other_header)) == lines{"headers[\"a.h\"]"});
  auto other_flag = before;
  other_flag.flag = "-O3";
  CHECK(lines_of(why(other_flag)) == lines{"flags[1]: \"-O2\" -> \"-O3\""});
  auto other_compiler = before;
  other_compiler.compiler = "gcc 13.1.0";
  CHECK(lines_of(why(other_compiler)) ==
        lines{"compiler.version: \"gcc 12.2.0\" -> \"gcc 13.1.0\""});
  CHECK(lines_of(why(before)).empty());
  CHECK(keys.explain("another kernel", before.key().details)->known == 0);
}

TEST_CASE_FIXTURE(on_disk, "the nearest of the known keys explains a miss, of several the latest") {
  runtime rt(settings());
  const auto keys = key_history::open(rt).value();
  const auto details = [](const std::string& a, const std::string& b, const std::string& c) {
    return key_field(key_field::map{{"a", a}, {"b", b}, {"c", c}});
  };
  REQUIRE(keys.note("k", details("1", "1", "1")));
  REQUIRE(keys.note("k", details("1", "2", "2")));
  REQUIRE(keys.note("k", details("3", "2", "1")));
  const auto miss = keys.explain("k", details("1", "2", "1")).value();
  CHECK(miss.known == 3);
  CHECK(lines_of(miss) == lines{"a: \"3\" -> \"1\""}); // the other two differ in one field too
}

TEST_CASE_FIXTURE(on_disk, "a member that comes or goes is said to be new or gone") {
  runtime rt(settings());
  const auto keys = key_history::open(rt).value();
  REQUIRE(keys.note("k", key_field::map{{"old", 1}, {"same", 2}}));
  const auto miss = keys.explain("k", key_field::map{{"new", 3}, {"same", 2}}).value();
  auto said = lines_of(miss);
  std::sort(said.begin(), said.end());
  CHECK(said == lines{"new: new: 3", "old: gone: 1"});
}

TEST_CASE_FIXTURE(on_disk, "the keys of a subject are bounded in number and size") {
  runtime rt(settings());
  const auto keys = key_history::open(rt).value();
  for (int i = 0; i < 40; ++i)
    REQUIRE(keys.note("k", key_field::map{{"n", i}}));
  const auto miss = keys.explain("k", key_field::map{{"n", 100}}).value();
  CHECK(miss.known == 16);
  CHECK(lines_of(miss) == lines{"n: 39 -> 100"});
  key_field::map large;
  for (int i = 0; i < 40'000; ++i)
    large.emplace(sha256(std::to_string(i)).hex(), sha256(std::to_string(-i)).hex());
  CHECK(keys.note("k", large).error().code() == errc::too_large);
}

TEST_CASE_FIXTURE(on_disk, "the misses of the last run are kept, as far as a bound allows") {
  runtime rt(settings());
  const auto keys = key_history::open(rt).value();
  CHECK(keys.last()->empty());
  REQUIRE(keys.set_last({{"one", {"a: 1 -> 2", "b: new: 3"}}, {"two", {}}}));
  const auto last = keys.last().value();
  REQUIRE(last.size() == 2);
  CHECK(last[0].what == "one");
  CHECK(last[0].lines == lines{"a: 1 -> 2", "b: new: 3"});
  CHECK(last[1].lines.empty());
  REQUIRE(keys.set_last({{"many", lines(1500, "x")}, {"late", {"y"}}}));
  CHECK(keys.last()->size() == 1);
  CHECK(keys.last()->front().lines.size() == 999); // and its name
  REQUIRE(keys.set_last({{"wide", lines(3, std::string(std::size_t{400} << 10, 'x'))}}));
  CHECK(keys.last()->front().lines.size() == 2);
}

TEST_CASE_FIXTURE(on_disk, "the misses of the last run move the epoch of no shard") {
  runtime rt(settings());
  const auto keys = key_history::open(rt).value();
  const auto& core = internals::core(rt);
  std::vector<std::uint64_t> before;
  for (std::size_t i = 0; i < core.views().size(); ++i)
    before.push_back(core.store()->epoch(i));
  for (int i = 0; i < 3; ++i)
    REQUIRE(keys.set_last({{"run " + std::to_string(i), {"a: 1 -> 2"}}}));
  CHECK(keys.last()->front().what == "run 2");
  for (std::size_t i = 0; i < before.size(); ++i)
    CHECK(core.store()->epoch(i) == before[i]);
}

TEST_CASE("without a store no misses are kept, and that is no error") {
  runtime rt(in_memory());
  const auto keys = key_history::open(rt).value();
  CHECK(keys.set_last({{"one", {"a: 1 -> 2"}}}));
  CHECK(keys.last()->empty());
}

TEST_CASE_FIXTURE(on_disk, "a damaged file of misses is an error until the next run replaces it") {
  runtime rt(settings());
  const auto keys = key_history::open(rt).value();
  for (const std::string_view bytes : {"", "no msgpack", "\x91\x01", "\x01"}) {
    write_text(directory / "store/last_misses", std::string(bytes));
    REQUIRE_FALSE(keys.last());
    CHECK(keys.last().error().code() == errc::malformed);
    CHECK(keys.last().error().text().find("last_misses") != std::string::npos);
  }
  REQUIRE(keys.set_last({{"one", {}}}));
  CHECK(keys.last()->size() == 1);
}

TEST_CASE_FIXTURE(on_disk, "misses are not kept in a store that is read-only") {
  { runtime made(settings()); }
  auto host = settings();
  host.store_read_only = true;
  runtime rt(host);
  const auto keys = key_history::open(rt).value();
  CHECK(keys.set_last({{"one", {}}}).error().code() == errc::read_only);
  CHECK(keys.last()->empty());
}

} // namespace key_history_test
