// What `hearth list` and `hearth stats` show of a store.
#include "tests/integration/terminal_run.hpp"
#include "tests/support/small_plan.hpp"
#include "tests/support/temporary_directory.hpp"

#include <algorithm>
#include <cstdlib>

namespace list_test {

using namespace hearth::test;
namespace fs = std::filesystem;
using words = std::vector<std::string>;

namespace {

struct listed_store {
  program_result hearth(words arguments) const {
    arguments.insert(arguments.end(), {"--store", store});
    return run_hearth(std::move(arguments), directory.path());
  }
  void put(const std::string& key, std::size_t bytes, const words& more = {}) const {
    write_text(directory / "value", std::string(bytes, 'v'));
    words all{"put", key, (directory / "value").string()};
    all.insert(all.end(), more.begin(), more.end());
    REQUIRE(hearth(all).status == 0);
  }

  temporary_directory directory;
  std::string store = (directory / "store").string();
};

std::size_t widest(const std::string& text) {
  std::size_t most = 0;
  for (const auto& line : lines_of(text))
    most = std::max(most, line.size());
  return most;
}

} // namespace

TEST_CASE_FIXTURE(listed_store, "list: the table fits 80 columns, or the terminal's") {
  const std::string long_key(500, 'k');
  put(long_key, 100, {"--cache", "a-cache-with-a-very-long-name-of-49-characters-xx"});
  put("short", 2'000'000);
  write_small_plan(directory.path());
  REQUIRE(hearth({"compile", (directory / "plan.toml").string()}).status == 0);
  const auto table = hearth({"list"});
  CHECK(table.status == 0);
  CHECK(widest(table.out) <= 80);
  CHECK(lines_of(table.out).front().starts_with("CACHE "));
  CHECK(table.out.find("1.9 MiB") != std::string::npos);
  CHECK(table.out.find("a-cache-with-a..") != std::string::npos);
  CHECK(table.out.find("\"kkkkkkkk") != std::string::npos);
  // A plan's kernel tells its configuration and the time that it took.
  const auto lines = lines_of(table.out);
  CHECK(std::any_of(lines.begin(), lines.end(), [](const std::string& line) {
    return line.starts_with("kernels") && line.find("TILE=1") != std::string::npos &&
           (line.find(" s, ") != std::string::npos || line.find(" ms, ") != std::string::npos);
  }));
  for (const unsigned short columns : {60, 132}) {
    const auto shown = run_at_terminal({"list", "--store", store}, directory.path(), true, columns);
    CHECK(shown.status == 0);
    const auto width = widest(shown.shown) - 1; // each line ends in \r
    CHECK(width <= columns);
    CHECK((width > 80) == (columns > 80));
  }
  ::setenv("COLUMNS", "1000", 1);
  const auto wide = hearth({"list"});
  ::unsetenv("COLUMNS");
  CHECK(wide.out.find("a-cache-with-a..") != std::string::npos);
  CHECK(widest(wide.out) > 80);
}

TEST_CASE_FIXTURE(listed_store, "list: JSON has what made the entries") {
  write_small_plan(directory.path());
  put("plain", 3);
  const auto details = (directory / "details.json").string();
  write_text(details, R"({"compiler": "cc 9.1", "flags": ["-O2"]})");
  auto key = hearth({"key", details}).out;
  key.pop_back();
  put(key, 3, {"--details", details});
  REQUIRE(hearth({"compile", (directory / "plan.toml").string()}).status == 0);
  std::size_t kernels = 0, tunings = 0, results = 0;
  for (const auto& one : hearth({"list", "--json"}).json()) {
    const auto& made = one.at("made");
    if (one.at("key") == "\"plain\"") CHECK(made.is_null());
    if (one.at("key") == "\"" + key + "\"") CHECK(made.at("toolchain") == "cc 9.1");
    if (made.is_null()) continue;
    const auto what = made.value("what", "");
    const auto cache = one.at("cache").get<std::string>();
    if (cache.starts_with("kernels") && what == "TILE=1") {
      ++kernels;
      CHECK(made.at("time_taken_ns") > 0);
    }
    if (cache.starts_with("autotune") && made.contains("kernel")) {
      ++tunings;
      CHECK(made.at("kernel").get<std::string>().starts_with("one"));
    }
    results += what == "status 0, 1 output";
  }
  CHECK(kernels >= 1);
  CHECK(tunings >= 1);
  CHECK(results >= 1);
}

TEST_CASE_FIXTURE(listed_store, "list: a table without entries has its head, and JSON is a list") {
  put("k", 1);
  REQUIRE(hearth({"erase", "k"}).status == 0);
  CHECK(hearth({"list"}).out == "CACHE  KEY  SIZE\n");
  CHECK(hearth({"list", "--json"}).out == "[]\n");
}

TEST_CASE_FIXTURE(listed_store, "stats: each named cache has its entries and bytes") {
  put("a", 1000, {"--cache", "first"});
  put("b", 500, {"--cache", "first"});
  put("c", 7, {"--cache", "second"});
  const auto caches = hearth({"stats", "--json"}).json().at("caches");
  CHECK(caches.size() == 2);
  CHECK(caches.at("first").at("entries") == 2);
  CHECK(caches.at("first").at("payload_bytes") == 1500);
  CHECK(caches.at("first").at("stored_bytes") > 1500);
  CHECK(caches.at("second").at("entries") == 1);
  const auto table = hearth({"stats"}).out;
  CHECK(table.find("\nCACHE   ENTRIES  CONTENT") != std::string::npos);
  CHECK(table.find("\nfirst         2  1.5 KiB") != std::string::npos);
}

} // namespace list_test
