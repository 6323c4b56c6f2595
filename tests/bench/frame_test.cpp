// The benchmark's arithmetic, the format of its lines, and the selection of rows.
#include "bench/frame/figures.hpp"
#include "bench/frame/row.hpp"

#include <doctest/doctest.h>

namespace frame_test {

using namespace hearth::bench;

TEST_CASE("a median is the middle one or the mean of the middle two") {
  CHECK(median({}) == 0);
  CHECK(median({3, 1, 2}) == 2);
  CHECK(median({4, 1, 2, 3}) == 2.5);
}

TEST_CASE("a quantile is taken by nearest rank") {
  CHECK(quantile({}, 0.5) == 0);
  CHECK(quantile({5, 1, 4, 2, 3}, 0.5) == 3);
  CHECK(quantile({5, 1, 4, 2, 3}, 0.99) == 5);
  CHECK(quantile({5, 1, 4, 2, 3}, 0) == 1);
}

TEST_CASE("a ratio above 1 says that Hearth took less time") {
  CHECK(ratios_of({2, 3}, {1, 6}) == std::vector<double>{2, 0.5});
}

TEST_CASE("lines have the form that tools read") {
  CHECK(ratio_line({"disk.get.16k", "lmdb", 0.971, ""}) == "RATIO disk.get.16k/lmdb 0.97");
  CHECK(value_line({"disk.open.1M", "closed_ms", 12, ""}) == "VALUE disk.open.1M.closed_ms 12");
  CHECK(value_line({"a", "b_us", 0.1234, ""}) == "VALUE a.b_us 0.123");
  CHECK(value_line({"a", "b_us", 12345.6, ""}) == "VALUE a.b_us 12346");
}

TEST_CASE("times are shown in the unit that fits") {
  CHECK(time_text(412e-9) == "412 ns");
  CHECK(time_text(3.412e-6) == "3.41 us");
  CHECK(time_text(0.0123) == "12.3 ms");
  CHECK(time_text(2) == "2 s");
}

TEST_CASE("rows are chosen by prefix and run in their own order") {
  registry all;
  for (const char* name : {"store.get.512", "store.insert.512", "disk.get.512"})
    all.rows.push_back({name, "", {}, {}});
  const auto names = [&](const std::vector<std::string>& prefixes) {
    const auto rows = select_rows(all, prefixes);
    std::vector<std::string> found;
    for (const auto* one : *rows)
      found.push_back(one->name);
    return found;
  };
  CHECK(names({}).size() == 3);
  CHECK(names({"disk", "store.g"}) == std::vector<std::string>{"store.get.512", "disk.get.512"});
  all.rows.push_back({"store.get.512.more", "", {}, {}});
  CHECK(names({"store.get.512"}) == std::vector<std::string>{"store.get.512"});
  CHECK(names({"store.get.5"}).size() == 2);
  all.rows.pop_back();
  const auto none = select_rows(all, {"disk", "mem"});
  REQUIRE(!none);
  CHECK(none.error().text() ==
        "no row starts with 'mem'; there are: store.get.512 store.insert.512 disk.get.512");
}

TEST_CASE("contenders take turns and the ratio is the median of the rounds' ratios") {
  settings how;
  how.rounds = 3;
  report out(report::form::json);
  std::string turns;
  int round = 0;
  const auto ours = [&] {
    turns += 'h';
    return 1.0 + round++; // 1, 2, 3 s
  };
  const auto theirs = [&] {
    turns += 'p';
    return 6.0;
  };
  row_run run("row", how, out);
  run.compare({{"hearth", ours}, {"peer", theirs}}, "a thing");
  CHECK(turns == "hpphhp");
  REQUIRE(out.ratios().size() == 1);
  CHECK(out.ratios()[0].ratio == 3); // the median of 6, 3 and 2
  CHECK(out.ratios()[0].made_of ==
        "hearth 2 s, peer 6 s a thing; medians of 3 rounds, ratios 2.00 to 6.00");
}

} // namespace frame_test
